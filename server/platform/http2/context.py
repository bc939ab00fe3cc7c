"""The context of a handler, with the interface of `grpc.aio`."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, NoReturn, Protocol

import grpc

from server.platform.http2.request_head import Opening
from server.platform.http2.wire import Metadata


class Stream(Protocol):
    """The connection's side of a call."""

    async def write(self, message: bytes) -> None:
        """Return when flow control has let the message pass; raises grpc.aio.InternalError if the client is gone."""
        ...

    def begin(self, metadata: Metadata) -> None:
        """Send the initial metadata."""
        ...

    def release(self, octets: int) -> None:
        """Extend the flow control window by the octets."""
        ...


class Messages:
    """The request messages of a client-streaming call; None marks their end."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._waiting: deque[tuple[bytes, int]] = deque()
        self._arrived = asyncio.Event()
        self._has_ended = False

    def put(self, messages: Sequence[bytes], octets: int) -> None:
        """Add messages that arrived in these octets; the octets of an unfinished message are released at once."""
        if not messages and not self._waiting:
            self._stream.release(octets)
            return
        shares = [octets, *[0] * (len(messages) - 1)]
        if messages:
            self._waiting.extend(zip(messages, shares, strict=True))
        else:
            message, share = self._waiting.pop()
            self._waiting.append((message, share + octets))
        self._arrived.set()

    def end(self) -> None:
        self._has_ended = True
        self._arrived.set()

    async def next(self) -> bytes | None:
        while not self._waiting:
            if self._has_ended:
                return None
            self._arrived.clear()
            await self._arrived.wait()
        message, octets = self._waiting.popleft()
        self._stream.release(octets)
        return message


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
