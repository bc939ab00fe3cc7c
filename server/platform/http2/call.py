"""One call, from its headers through its handler to its status."""

import asyncio
import inspect
import logging
from typing import Protocol

import grpc
from google.protobuf.message import DecodeError

from server.platform.deadlines import Deadlines
from server.platform.http2.context import CallContext, Messages
from server.platform.http2.refusal import Refusal
from server.platform.http2.request_head import Opening
from server.platform.http2.wire import MessageReader, Metadata, framed

logger = logging.getLogger(__name__)


class Stream(Protocol):
    """The connection's side of a call's stream."""

    peer: str

    def consume(self, stream_id: int, octets: int) -> None:
        """Extend the flow control window by the octets; called while data is being received."""
        ...

    def release(self, stream_id: int, octets: int) -> None:
        """Extend the flow control window by the octets; callable at any time."""
        ...

    def taken(self, stream_id: int) -> None:
        """Note that the handler has taken a message."""
        ...

    def took_message(self) -> None:
        """Note that the handler has taken a message of a stream."""
        ...

    def is_congested(self) -> bool:
        """Whether the client has not read many octets of the connection's answers."""
        ...

    async def space(self) -> None:
        """Return when the connection is not congested."""
        ...

    def expect_space(self, octets: int) -> None:
        """Raise Refusal when the client has not read too many octets of answers."""
        ...

    def begin(self, stream_id: int, metadata: Metadata) -> None: ...

    def answer(self, stream_id: int, message: bytes) -> None: ...

    async def room(self, stream_id: int) -> None:
        """Return when flow control has let all data of the stream pass."""
        ...

    def finish(self, stream_id: int, code: grpc.StatusCode, details: str, metadata: Metadata) -> None: ...


class ServedCall:
    """A call, which starts its handler as soon as the handler has its input.

    The methods for the connection raise Refusal, which ends the call.
    """

    __slots__ = (
        "_context",
        "_is_gone",
        "_messages",
        "_method",
        "_reader",
        "_seconds",
        "_stream",
        "counted",
        "has_begun",
        "has_ended",
        "id",
        "opened_at",
        "task",
    )

    def __init__(self, stream: Stream, stream_id: int, opening: Opening, *, max_message_bytes: int) -> None:
        self.id = stream_id
        self.task: asyncio.Task[None] | None = None
        self.has_begun = False
        self.has_ended = False
        # Octets that the connection counts for this call.
        self.counted = 0
        self.opened_at = 0.0
        self._stream = stream
        self._method = opening.method
        self._seconds = opening.seconds
        self._reader = MessageReader(max_message_bytes, opening.encoding)
        self._messages = Messages(self, self._reader) if opening.method.takes_stream else None
        self._is_gone = False
        deadline = None if opening.seconds is None else asyncio.get_running_loop().time() + opening.seconds
        self._context = CallContext(self, opening, stream.peer, deadline=deadline, messages=self._messages)

    @property
    def starts_at_once(self) -> bool:
        return self._messages is not None

    @property
    def is_incomplete(self) -> bool:
        """Whether the handler waits for octets of its only message."""
        return self._messages is None and not self.has_ended

    @property
    def protects(self) -> bool:
        """Whether the connection must not give way to another one while the handler runs."""
        return self._method.protects

    @property
    def held(self) -> int:
        """Octets of requests that the handler has not taken."""
        return self._reader.held

    def received(self, chunk: bytes) -> None:
        if self._messages is not None:
            self._messages.put(chunk)
            return
        self._stream.consume(self.id, len(chunk))
        self._reader.feed(chunk)
        if self._reader.missing() < 0:
            raise Refusal(grpc.StatusCode.INTERNAL, "expected one message, found another one")

    def ended(self) -> None:
        """Note that the client has sent its last message."""
        self.has_ended = True
        if self._messages is not None:
            self._messages.end()
        elif not self._reader.held:
            raise Refusal(grpc.StatusCode.INTERNAL, "expected one message, found none")
        elif self._reader.missing() > 0:
            raise Refusal(grpc.StatusCode.INTERNAL, "the stream ends within a message")

    def leave(self) -> None:
        """Note that the stream is closed, and cancel the handler."""
        self._is_gone = True
        if self.task is not None:
            self.task.cancel()

    async def serve(self, deadlines: Deadlines) -> None:
        if self._seconds is None:
            await self._respond()
            return
        try:
            with deadlines.within(self._seconds):
                await self._respond()
        except TimeoutError as error:
            raise Refusal(grpc.StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded") from error

    async def _respond(self) -> None:
        method, context = self._method, self._context
        argument = context.requests() if self._messages is not None else method.deserialize(self._request())
        answer = method.serve(argument, context)
        if not method.gives_stream:
            response = method.serialize(await answer)
            if not self._is_gone and context.code() is grpc.StatusCode.OK:
                self._stream.expect_space(len(response))
                self.begin(())
                self._stream.answer(self.id, framed(response))
        elif inspect.isawaitable(answer):
            await answer
        else:
            async for response in answer:
                await context.write(response)
        self._finish(context.code(), context.details(), context.trailing_metadata())

    def _request(self) -> bytes:
        """Extract the only message of a unary request; raises Refusal."""
        message = self._reader.next() or b""
        self._stream.taken(self.id)
        return message

    def done(self, task: asyncio.Task[None]) -> None:
        """Report the handler's error to the client, if any."""
        if task.cancelled():
            self._finish(grpc.StatusCode.UNAVAILABLE, "the server ends", ())
            return
        match task.exception():
            case None:
                return
            case grpc.aio.AbortError():
                context = self._context
                self._finish(context.code(), context.details(), context.trailing_metadata())
            case Refusal() as refusal:
                self.refuse(refusal)
            case DecodeError():
                self._finish(grpc.StatusCode.INTERNAL, "Exception deserializing request!", ())
            case error:
                self._fail(error)

    def _fail(self, error: BaseException) -> None:
        if not self._is_gone:
            logger.error("call failed", exc_info=error)
            self._finish(grpc.StatusCode.INTERNAL, "", ())

    def refuse(self, refusal: Refusal) -> None:
        self._finish(refusal.code, refusal.details, ())

    def _finish(self, code: grpc.StatusCode, details: str, metadata: Metadata) -> None:
        if not self._is_gone:
            self._is_gone = True
            self._stream.finish(self.id, code, details, metadata)

    async def write(self, message: bytes) -> None:
        if self._is_gone:
            raise grpc.aio.InternalError("the client has left")
        if self._stream.is_congested():
            await self._stream.space()
        self.begin(())
        self._stream.answer(self.id, framed(message))
        await self._stream.room(self.id)

    def begin(self, metadata: Metadata) -> None:
        if not self.has_begun and not self._is_gone:
            self.has_begun = True
            self._stream.begin(self.id, metadata)

    def release(self, octets: int) -> None:
        if not self._is_gone:
            self._stream.release(self.id, octets)

    def took(self) -> None:
        self._stream.took_message()
