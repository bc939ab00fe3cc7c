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

_DETAILS = "grpc-status-details-bin"
KIBIBYTE = 1024


@dataclass(frozen=True, slots=True)
class GrpcConfig:
    """[grpc]: where gRPC listens. `port` 0 takes a free one; `drain_seconds` is what calls get to end at stop."""

    host: str = "127.0.0.1"
    port: int = 26500
    max_message_bytes: int = 5 * KIBIBYTE * KIBIBYTE
    drain_seconds: float = 5.0


class GrpcServer:
    """Serves a dispatcher; `start` answers with the port."""

    def __init__(self, dispatcher: Dispatcher, config: GrpcConfig) -> None:
        self._config = config
        self._server = grpc.aio.server(
            options=[
                ("grpc.max_receive_message_length", config.max_message_bytes),
                ("grpc.so_reuseport", 0),
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
        names = [service.full_name for service in dispatcher.services]
        self._health = health.aio.HealthServicer()
        self._names = ["", *names]
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection(
            [*names, health.SERVICE_NAME, reflection.SERVICE_NAME], self._server
        )

    async def start(self) -> int:
        port = self._server.add_insecure_port(f"{self._config.host}:{self._config.port}")
        await self._server.start()
        for name in self._names:
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        return port

    async def stop(self) -> None:
        await self._health.enter_graceful_shutdown()
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
