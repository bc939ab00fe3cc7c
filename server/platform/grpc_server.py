"""The gRPC listener of a process: its dispatcher, health and reflection, and an orderly end."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import grpc
from google.protobuf.message import Message
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from server.platform.dispatch import Dispatcher, Operation
from server.platform.errors import ServiceError
from server.platform.tunnel import SERVICE as TUNNEL
from server.platform.tunnel import Tunnel

_DETAILS = "grpc-status-details-bin"
KIBIBYTE = 1024

# A peer that vanished without a word is noticed, so that its calls do not keep their places; peers may ask likewise.
_KEEPALIVE = (
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    # The timeout above counts for nothing while this one is longer.
    ("grpc.http2.ping_timeout_ms", 10_000),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
)


@dataclass(frozen=True, slots=True)
class GrpcConfig:
    """[grpc]: where gRPC listens. `port` 0 takes a free one; `drain_seconds` is what calls get to end at stop.

    `max_tunnel_calls` may be under way at once on one tunnel. `reuse_port` lets several
    processes share the port.
    """

    host: str = "127.0.0.1"
    port: int = 26500
    max_message_bytes: int = 5 * KIBIBYTE * KIBIBYTE
    drain_seconds: float = 5.0
    max_tunnel_calls: int = 4096
    reuse_port: bool = False


class GrpcServer:
    """Serves a dispatcher; `start` answers with the port."""

    def __init__(self, dispatcher: Dispatcher, config: GrpcConfig) -> None:
        self._config = config
        self._server = grpc.aio.server(
            options=[
                ("grpc.max_receive_message_length", config.max_message_bytes),
                ("grpc.so_reuseport", int(config.reuse_port)),
                *_KEEPALIVE,
            ]
        )
        for service in dispatcher.services:
            operations = {
                operation.policy.name: operation
                for path, operation in dispatcher.operations.items()
                if path.startswith(f"/{service.full_name}/")
            }
            handlers = {name: _handler(dispatcher, operation) for name, operation in operations.items()}
            generic = grpc.method_handlers_generic_handler(service.full_name, handlers)
            self._server.add_generic_rpc_handlers((generic,))
        self._tunnel = Tunnel(
            dispatcher, max_calls=config.max_tunnel_calls, max_message_bytes=config.max_message_bytes
        )
        self._server.add_generic_rpc_handlers((self._tunnel.handler(),))
        names = [service.full_name for service in dispatcher.services]
        self._health = health.aio.HealthServicer()
        self._names = ["", *names]
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection(
            [*names, TUNNEL, health.SERVICE_NAME, reflection.SERVICE_NAME], self._server
        )

    async def start(self) -> int:
        port = self._server.add_insecure_port(f"{self._config.host}:{self._config.port}")
        await self._server.start()
        for name in self._names:
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        return port

    async def stop(self) -> None:
        await self._health.enter_graceful_shutdown()
        self._tunnel.drain()
        await self._server.stop(self._config.drain_seconds)


def _handler(dispatcher: Dispatcher, operation: Operation) -> "grpc.RpcMethodHandler[Message, Message]":
    policy = operation.policy

    async def serve(request: Message, context: grpc.aio.ServicerContext[Message, Message]) -> Message:
        try:
            return await dispatcher.dispatch(
                policy.path, request, _metadata(context), time_remaining=context.time_remaining()
            )
        except ServiceError as error:
            await _refuse(context, error)
            raise

    return grpc.unary_unary_rpc_method_handler(
        serve,
        request_deserializer=policy.request.FromString,
        response_serializer=policy.response.SerializeToString,
    )


def _metadata(context: grpc.aio.ServicerContext[Message, Message]) -> Mapping[str, str]:
    pairs = cast("tuple[tuple[str, str | bytes], ...]", context.invocation_metadata() or ())
    return {key: value for key, value in pairs if isinstance(value, str)}


async def _refuse(context: grpc.aio.ServicerContext[Message, Message], error: ServiceError) -> None:
    status = error.status()
    await context.abort(
        _CODES[status.code], status.message, trailing_metadata=((_DETAILS, status.SerializeToString()),)
    )


_CODES = {code.value[0]: code for code in grpc.StatusCode}
