"""A channel to another process whose calls carry the current trace."""

from collections.abc import Awaitable, Callable

from google.protobuf.message import Message

from server.platform.channels.port import Channel, Metadata, UnaryCall, UnaryChannel
from server.platform.tracing import carried


class TracedChannel(UnaryChannel):
    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def unary_unary(
        self,
        method: str,
        request_serializer: Callable[[Message], bytes] | None = None,
        response_deserializer: Callable[[bytes], Message] | None = None,
        _registered_method: bool | None = False,  # noqa: FBT001, FBT002  # as generated code calls it
    ) -> UnaryCall[Message, Message]:
        call = self._channel.unary_unary(method, request_serializer, response_deserializer)

        def traced(
            request: Message,
            *,
            timeout: float | None = None,
            metadata: Metadata | None = None,
        ) -> Awaitable[Message]:
            return call(request, timeout=timeout, metadata=carried(metadata))

        return traced
