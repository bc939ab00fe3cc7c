"""Zeebe's gRPC API: each RPC is translated into the corresponding RPC of the contract.

    Zeebe client ──► GatewayServicer ──► Contract ──► dispatcher of the process: interceptors, servicer
                     translates          calls

The called RPC checks credential, tenant, permission and bounds, and does the work. One module per noun
translates its messages with pure functions.
"""

from server.gateway.servicer import SERVICE, GatewayServicer

__all__ = ["SERVICE", "GatewayServicer"]
