"""One channel to several equal servers: calls are distributed in turn, and disconnected servers are skipped."""

from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from typing import Protocol

from google.protobuf.message import Message

from server.platform.channels.port import Channel, Metadata, UnaryCall, UnaryChannel


class ConnectingChannel(Channel, Protocol):
    """A channel that knows whether it is connected."""

    @property
    def is_connected(self) -> bool: ...


class SeveralChannels(UnaryChannel):
    """Distributes calls over channels in turn.

    A call that was sent is never repeated on another server, because it may have taken effect; its caller
    must find out.
    """

    def __init__(self, channels: Sequence[ConnectingChannel]) -> None:
        if not channels:
            raise ValueError("expected one channel at least")
        self._channels = channels

    def unary_unary(
        self,
        method: str,
        request_serializer: Callable[[Message], bytes] | None = None,
        response_deserializer: Callable[[bytes], Message] | None = None,
        _registered_method: bool | None = False,  # noqa: FBT001, FBT002  # as generated code calls it
    ) -> UnaryCall[Message, Message]:
        calls = [
            (channel, channel.unary_unary(method, request_serializer, response_deserializer))
            for channel in self._channels
        ]
        turns = cycle(calls)

        async def call(
            request: Message,
            *,
            timeout: float | None = None,  # noqa: ASYNC109  # as stubs call it
            metadata: Metadata | None = None,
        ) -> Message:
            chosen = _connected(turns, len(calls))
            return await chosen(request, timeout=timeout, metadata=metadata)

        return call


def _connected(
    turns: Iterator[tuple[ConnectingChannel, UnaryCall[Message, Message]]], most: int
) -> UnaryCall[Message, Message]:
    """Return the next connected channel; if none is connected, the next one, which waits for its connection."""
    for _ in range(most):
        channel, call = next(turns)
        if channel.is_connected:
            return call
    return next(turns)[1]
