"""The grpcio listener, a fallback for `server.platform.http2`; a call takes ten times the processor time.

It bounds its connections in all, not those of one address.
"""

import grpc

from server.platform.http2 import Limits
from server.platform.sockets import authority


class GrpcioListener:
    """`grpc.aio.Server` with the interface of a listener."""

    def __init__(self, limits: Limits, *, reuse_port: bool) -> None:
        self._server = grpc.aio.server(options=_options(limits, reuse_port=reuse_port))
        self.add_generic_rpc_handlers = self._server.add_generic_rpc_handlers
        self.add_open_handlers = self._server.add_generic_rpc_handlers
        self.start = self._server.start

    def listen(self, address: str, port: int) -> None:
        self._server.add_insecure_port(authority(address, port))

    async def stop(self, grace: float) -> None:
        await self._server.stop(grace)


def _options(limits: Limits, *, reuse_port: bool) -> list[tuple[str, int]]:
    return [
        ("grpc.max_allowed_incoming_connections", limits.max_connections),
        ("grpc.max_concurrent_streams", limits.max_connection_calls),
        ("grpc.server_handshake_timeout_ms", _milliseconds(limits.handshake_timeout_seconds)),
        ("grpc.max_connection_idle_ms", _milliseconds(limits.idle_timeout_seconds)),
        ("grpc.max_receive_message_length", limits.max_message_bytes),
        ("grpc.so_reuseport", int(reuse_port)),
        ("grpc.keepalive_time_ms", _milliseconds(limits.keepalive_seconds)),
        ("grpc.keepalive_timeout_ms", _milliseconds(limits.keepalive_timeout_seconds)),
        # gRPC ignores the keepalive timeout above if the HTTP/2 ping timeout is longer.
        ("grpc.http2.ping_timeout_ms", _milliseconds(limits.keepalive_timeout_seconds)),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.http2.min_ping_interval_without_data_ms", _milliseconds(limits.min_ping_interval_seconds)),
    ]


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)
