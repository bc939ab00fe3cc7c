"""Zeebe's gRPC API: each of its RPCs is translated into the RPC of the contract that it stands for.

    Zeebe client ──► GatewayServicer ──► Contract ──► dispatcher of the process: interceptors, servicer
                     translates          calls

Nothing is decided here: credential, tenant, permission, bounds and the work itself are up to the RPC that is called. One
module for each noun translates its messages, by functions without side effects.
"""

from server.gateway.servicer import SERVICE, GatewayServicer

__all__ = ["SERVICE", "GatewayServicer"]
