"""The context of a handler, with the interface of `grpc.aio`."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, NoReturn, Protocol

import grpc

from server.platform.http2.refusal import Refusal
from server.platform.http2.request_head import Opening
from server.platform.http2.wire import MessageReader, Metadata


class Stream(Protocol):
    """The connection's side of a call."""

    async def write(self, message: bytes) -> None:
        """Return when flow control has let the message pass; raises grpc.aio.InternalError if the client is gone."""
        ...

    def begin(self, metadata: Metadata) -> None:
        """Send the initial metadata."""
        ...

    def release(self, octets: int) -> None:
        """Extend the flow control window by the octets; also called with 0 when a message was taken."""
        ...

    def took(self) -> None:
        """Note that the handler has taken a message."""
        ...


class Messages:
    """The request messages of a client-streaming call; None marks their end.

    The client may send again what the handler has taken, and what an unfinished message holds.
    """

    def __init__(self, stream: Stream, reader: MessageReader) -> None:
        self._stream = stream
        self._reader = reader
        self._unreleased = 0
        self._arrived = asyncio.Event()
        self._has_ended = False

    def put(self, chunk: bytes) -> None:
        """Add octets; raises Refusal if the next message is too long."""
        self._reader.feed(chunk)
        self._unreleased += len(chunk)
        if self._reader.missing() > 0:
            self._release(self._unreleased)
        self._arrived.set()

    def end(self) -> None:
        self._has_ended = True
        self._arrived.set()

    async def next(self) -> bytes | None:
        """Return the next message; raises Refusal."""
        before = self._reader.held
        while (message := self._reader.next()) is None:
            if self._has_ended:
                self._expect_nothing_left()
                return None
            self._arrived.clear()
            await self._arrived.wait()
            before = self._reader.held
        self._stream.took()
        is_unfinished = self._reader.missing() > 0
        self._release(
            self._unreleased if is_unfinished else min(self._unreleased, before - self._reader.held)
        )
        return message

    def _expect_nothing_left(self) -> None:
        if self._reader.held:
            raise Refusal(grpc.StatusCode.INTERNAL, "the stream ends within a message")

    def _release(self, octets: int) -> None:
        self._unreleased -= octets
        self._stream.release(octets)


class CallContext(grpc.aio.ServicerContext[Any, Any]):
    """The context of a call; `messages` is set for client-streaming calls."""

    def __init__(
        self,
        stream: Stream,
        opening: Opening,
        peer: str,
        *,
        deadline: float | None,
        messages: Messages | None,
    ) -> None:
        self._stream = stream
        self._opening = opening
        self._peer = peer
        self._deadline = deadline
        self._messages = messages
        self._code = grpc.StatusCode.OK
        self._details = ""
        self._trailing: Metadata = ()

    async def requests(self) -> AsyncIterator[Any]:
        while (request := await self.read()) is not grpc.aio.EOF:
            yield request

    async def read(self) -> Any:
        if self._messages is None:
            raise grpc.aio.UsageError("the client sends one message")
        message = await self._messages.next()
        return grpc.aio.EOF if message is None else self._opening.method.deserialize(message)

    async def write(self, message: Any) -> None:
        await self._stream.write(self._opening.method.serialize(message))

    async def send_initial_metadata(self, initial_metadata: Metadata) -> None:
        self._stream.begin(initial_metadata)

    async def abort(
        self, code: grpc.StatusCode, details: str = "", trailing_metadata: Metadata = ()
    ) -> NoReturn:
        self._code, self._details = code, details
        self._trailing = trailing_metadata or self._trailing
        raise grpc.aio.AbortError(details)

    async def abort_with_status(self, status: grpc.Status) -> NoReturn:
        await self.abort(status.code, status.details, status.trailing_metadata or ())

    def invocation_metadata(self) -> Metadata:  # type: ignore[override]  # pairs, as grpc.aio has them in truth
        return tuple(self._opening.metadata.items())

    def set_trailing_metadata(self, trailing_metadata: Metadata) -> None:
        self._trailing = trailing_metadata

    def trailing_metadata(self) -> Metadata:  # type: ignore[override]  # pairs, as grpc.aio has them in truth
        return self._trailing

    def set_code(self, code: grpc.StatusCode) -> None:
        self._code = code

    def code(self) -> grpc.StatusCode:
        return self._code

    def set_details(self, details: str) -> None:
        self._details = details

    def details(self) -> str:
        return self._details

    def time_remaining(self) -> float | None:  # type: ignore[override]  # None without a deadline, as in grpc.aio
        if self._deadline is None:
            return None
        return max(self._deadline - asyncio.get_running_loop().time(), 0.0)

    def peer(self) -> str:
        return self._peer

    def set_compression(self, compression: grpc.Compression) -> None:
        """Do nothing: responses are not compressed."""

    def disable_next_message_compression(self) -> None:
        """Do nothing: responses are not compressed."""

    def peer_identities(self) -> Iterable[bytes] | None:
        return None

    def peer_identity_key(self) -> str | None:
        return None

    def auth_context(self) -> Mapping[str, Iterable[bytes]]:
        return {}
