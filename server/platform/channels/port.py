"""The interface of a channel, as callers of a service use it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import NoReturn, Protocol, TypeVar

from google.protobuf.message import Message

Metadata = Sequence[tuple[str, str]]
Request = TypeVar("Request", bound=Message, contravariant=True)  # noqa: PLC0105  # as the protocol reads best
Response = TypeVar("Response", bound=Message, covariant=True)  # noqa: PLC0105


class UnaryCall(Protocol[Request, Response]):
    """Calls one RPC; `timeout` is in seconds. Raises grpc.RpcError."""

    def __call__(
        self, request: Request, *, timeout: float | None = None, metadata: Metadata | None = None
    ) -> Awaitable[Response]: ...


class Channel(Protocol):
    """The part of grpc.aio.Channel that stubs of unary RPCs use."""

    def unary_unary(
        self,
        method: str,
        request_serializer: Callable[[Message], bytes] | None = None,
        response_deserializer: Callable[[bytes], Message] | None = None,
        _registered_method: bool | None = False,  # noqa: FBT001, FBT002  # as generated code calls it
    ) -> UnaryCall[Message, Message]: ...


class UnaryChannel:
    """Base of channels that carry unary calls only.

    Stubs can be created with it, but calls of their streaming RPCs raise TypeError.
    """

    def unary_stream(self, method: str, *_: object, **__: object) -> Callable[..., NoReturn]:
        def call(*_: object, **__: object) -> NoReturn:
            raise TypeError(f"expected a gRPC channel: {method} is a stream")

        return call
