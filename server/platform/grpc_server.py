"""The gRPC listener of a process: its dispatchers, health checks and reflection, and a graceful stop."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import grpc
from google.protobuf.message import Message

from server.platform.caller import NO_EDGES, EdgeSecret
from server.platform.dispatch import Dispatcher, Operation, StreamOperation
from server.platform.errors import ServiceError
from server.platform.grpc_context import metadata_of, refuse
from server.platform.grpcio_listener import GrpcioListener
from server.platform.health import SERVICE as HEALTH
from server.platform.health import Health
from server.platform.http2 import Limits, Listener
from server.platform.metrics import Metrics
from server.platform.networks import Networks
from server.platform.open_files import open_file_limit
from server.platform.peer import Peer, address_of
from server.platform.reflection import Reflection
from server.platform.sockets import LOCALHOST, expect_free, free_port, listen_addresses
from server.platform.tunnel import SERVICE as TUNNEL
from server.platform.tunnel import Tunnel

KIBIBYTE = 1024


class Library(StrEnum):
    """The library that carries calls."""

    NGHTTP2 = "nghttp2"
    GRPCIO = "grpcio"


@dataclass(frozen=True, slots=True)
class GrpcConfig:
    """[grpc]: the address and limits of the gRPC listener. `host` `localhost` means both loopback addresses; `port` 0 selects a free port.

    At most `max_connections` may be open, fewer if the limit of open files is lower, and at most
    `max_connections_per_address` from one client address (IPv6: one /64 network), except
    `access.trusted_proxies`. At a bound, a connection without a running call is closed for the new one. At
    most `max_connection_calls` may run on one connection; further calls wait at the client. A client must
    start HTTP/2 within `handshake_timeout_seconds`, make its first call within `first_call_timeout_seconds`,
    and send a complete request within `request_timeout_seconds`. A connection without calls closes after
    `idle_timeout_seconds`, and the client reconnects for its next call. A client that reads nothing of its
    answers for `send_timeout_seconds` is disconnected. Running calls have `drain_seconds` to end when the
    server stops. At most `max_tunnel_calls` may run on one tunnel. `reflection` lets clients list services
    and messages without a credential. With `reuse_port` several processes share the port. `library` is the
    gRPC implementation: `nghttp2`, or `grpcio`, which takes several times the processor time and has no
    bound by address.
    """

    host: str = LOCALHOST
    port: int = 26500
    max_connections: int = 1024
    max_connections_per_address: int = 256
    max_connection_calls: int = 1024
    max_message_bytes: int = 5 * KIBIBYTE * KIBIBYTE
    handshake_timeout_seconds: float = 15.0
    first_call_timeout_seconds: float = 15.0
    request_timeout_seconds: float = 60.0
    send_timeout_seconds: float = 60.0
    idle_timeout_seconds: float = 600.0
    drain_seconds: float = 5.0
    max_tunnel_calls: int = 4096
    reflection: bool = True
    reuse_port: bool = False
    library: Library = Library.NGHTTP2

    def __post_init__(self) -> None:
        for name in (
            "max_connections",
            "max_connections_per_address",
            "max_connection_calls",
            "max_message_bytes",
            "handshake_timeout_seconds",
            "first_call_timeout_seconds",
            "request_timeout_seconds",
            "send_timeout_seconds",
            "idle_timeout_seconds",
            "max_tunnel_calls",
        ):
            if getattr(self, name) <= 0:
                raise ValueError(f"grpc.{name}: expected more than 0, found {getattr(self, name)}")


class GrpcServer:
    """The gRPC server of a process; `start` returns its port. Edges authenticate with `edge_secret`.

    `beside` are dispatchers of other APIs, which tunnels do not serve. `section` is the configuration section
    that error messages about host and port name. Connections of `trusted_proxies`, which are networks, count
    only towards the bound of the process.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        config: GrpcConfig,
        edge_secret: EdgeSecret = NO_EDGES,
        *,
        beside: Sequence[Dispatcher] = (),
        section: str = "grpc",
        trusted_proxies: Sequence[str] = (),
        metrics: Metrics | None = None,
    ) -> None:
        self._config = config
        self._section = section
        self._server = _listener(config, Networks(trusted_proxies), metrics)
        dispatchers = (dispatcher, *beside)
        self._server.add_generic_rpc_handlers([each for one in dispatchers for each in _handlers(one)])
        self._tunnel = Tunnel(
            dispatcher,
            max_calls=config.max_tunnel_calls,
            max_message_bytes=config.max_message_bytes,
            edge_secret=edge_secret,
        )
        self._server.add_generic_rpc_handlers((self._tunnel.handler(),))
        names = [service.full_name for each in dispatchers for service in each.services]
        self._health = Health(names)
        self._server.add_open_handlers([self._health.handler()])
        if config.reflection:
            self._server.add_open_handlers(Reflection([*names, TUNNEL, HEALTH]).handlers())

    async def start(self) -> int:
        """Listen on every address of the host and return the port; raises PortTaken."""
        config = self._config
        port = config.port or free_port(config.host)
        expect_free(config.host, port, section=self._section, reuse_port=config.reuse_port)
        for address in listen_addresses(config.host):
            self._server.listen(address, port)
        await self._server.start()
        self._health.set(serving=True)
        return port

    async def stop(self) -> None:
        self._health.set(serving=False)
        self._tunnel.drain()
        await self._server.stop(self._config.drain_seconds)


def _listener(config: GrpcConfig, trusted: Networks, metrics: Metrics | None) -> GrpcioListener | Listener:
    limits = Limits(
        # Leaves file descriptors for other listeners and the database.
        max_connections=min(config.max_connections, open_file_limit() // 4),
        max_connections_per_address=config.max_connections_per_address,
        max_connection_calls=config.max_connection_calls,
        max_message_bytes=config.max_message_bytes,
        handshake_timeout_seconds=config.handshake_timeout_seconds,
        first_call_timeout_seconds=config.first_call_timeout_seconds,
        request_timeout_seconds=config.request_timeout_seconds,
        send_timeout_seconds=config.send_timeout_seconds,
        idle_timeout_seconds=config.idle_timeout_seconds,
    )
    match config.library:
        case Library.NGHTTP2:
            return Listener(limits, reuse_port=config.reuse_port, trusted=trusted, metrics=metrics)
        case Library.GRPCIO:
            return GrpcioListener(limits, reuse_port=config.reuse_port)


def _handlers(dispatcher: Dispatcher) -> Iterator[grpc.GenericRpcHandler]:
    """Yield one handler per service."""
    served: tuple[Operation | StreamOperation, ...] = (
        *dispatcher.operations.values(),
        *dispatcher.streams.values(),
    )
    for service in dispatcher.services:
        handlers = {
            operation.policy.name: _handler(dispatcher, operation)
            for operation in served
            if operation.policy.path.startswith(f"/{service.full_name}/")
        }
        yield grpc.method_handlers_generic_handler(service.full_name, handlers)


def _handler(
    dispatcher: Dispatcher, operation: Operation | StreamOperation
) -> "grpc.RpcMethodHandler[Message, Message]":
    if isinstance(operation, StreamOperation):
        return _stream_handler(dispatcher, operation)
    policy = operation.policy

    async def serve(request: Message, context: grpc.aio.ServicerContext[Message, Message]) -> Message:
        try:
            return await dispatcher.dispatch(
                policy.path,
                request,
                metadata_of(context),
                time_remaining=context.time_remaining(),
                peer=Peer(address_of(context.peer())),
            )
        except ServiceError as error:
            await refuse(context, error)
            raise

    return grpc.unary_unary_rpc_method_handler(
        serve,
        request_deserializer=policy.request.FromString,
        response_serializer=policy.response.SerializeToString,
    )


def _stream_handler(
    dispatcher: Dispatcher, operation: StreamOperation
) -> "grpc.RpcMethodHandler[Message, Message]":
    policy = operation.policy

    async def serve(request: Message, context: grpc.aio.ServicerContext[Message, Message]) -> None:
        async def write(message: Message) -> None:
            try:
                await context.write(message)
            except grpc.aio.InternalError as error:
                # The client is gone, and gRPC is about to cancel the call.
                raise asyncio.CancelledError from error

        peer = Peer(address_of(context.peer()))
        try:
            await dispatcher.stream(
                policy.path,
                request,
                metadata_of(context),
                write,
                time_remaining=context.time_remaining(),
                peer=peer,
            )
        except ServiceError as error:
            await refuse(context, error)
            raise

    return grpc.unary_stream_rpc_method_handler(
        serve,
        request_deserializer=policy.request.FromString,
        response_serializer=policy.response.SerializeToString,
    )
