"""One connection: bytes to HTTP/2 events, events to calls, responses back to bytes.

Responses that become ready in one turn of the event loop are sent in one write. If the client does not read,
flow control holds responses back in their streams: the writers of streams wait, further calls do not start, and
answers beyond the bound are refused. A client that sends many frames is served in turns.
"""

import asyncio
import contextlib
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol, cast

import grpc
import ngh2

from server.platform.deadlines import Deadlines
from server.platform.http2 import frames
from server.platform.http2.call import ServedCall
from server.platform.http2.frames import FrameBudget
from server.platform.http2.handlers import Handlers
from server.platform.http2.limits import CONNECTION_WINDOW, KIBIBYTE, STREAM_WINDOW, Limits
from server.platform.http2.liveness import Liveness
from server.platform.http2.meter import Closing
from server.platform.http2.refusal import Refusal
from server.platform.http2.request_head import NotGrpc, opening
from server.platform.http2.wire import (
    HEADERS,
    OK,
    Header,
    Metadata,
    headers_of,
    status_headers,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_WRITE_OCTETS = 256 * KIBIBYTE
_LAST_PING = b"draining"
_REQUEST_LATE = "the request was not complete in time"


def _goaway(code: ngh2.ErrorCode, closing: Closing, *, last_stream_id: int) -> bytes:
    """Return a GOAWAY frame (RFC 9113 §6.8)."""
    payload = last_stream_id.to_bytes(4, "big") + code.to_bytes(4, "big") + closing.encode()
    return len(payload).to_bytes(3, "big") + b"\7\0\0\0\0\0" + payload


# An empty SETTINGS frame and GOAWAY, for a connection that has no place.
_REFUSED = b"\0\0\0\4\0\0\0\0\0" + _goaway(
    ngh2.ErrorCode.ENHANCE_YOUR_CALM, Closing.TOO_MANY_CONNECTIONS, last_stream_id=0
)
# Calls may have been served.
_LAST_STREAM_ID = 2**31 - 1


class Owner(Protocol):
    """The listener's side of a connection."""

    handlers: Handlers
    limits: Limits
    deadlines: Deadlines

    def admit(self, connection: "Connection") -> bool:
        """Whether another connection is allowed."""
        ...

    def is_busy(self, connection: "Connection", *, busy: bool) -> None:
        """Note whether calls of the connection run."""
        ...

    def closing(self, connection: "Connection", closing: Closing) -> None:
        """Note that the listener's side closes the connection."""
        ...

    def forget(self, connection: "Connection") -> None: ...


class Connection(asyncio.Protocol):
    """The connection of one peer, and its calls."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._limits = owner.limits
        self._loop = asyncio.get_running_loop()
        self._calls: dict[int, ServedCall] = {}
        self._waiting: dict[int, asyncio.Future[None]] = {}
        # Calls and writers that wait until the client reads; each writer's octets are not queued yet.
        self._deferred: dict[int, ServedCall] = {}
        self._congested: deque[asyncio.Future[None]] = deque()
        # Streams with a complete response whose client has not closed its side yet.
        self._half_open: set[int] = set()
        self._held = 0
        # Octets of answers that were not sent yet, at the last write.
        self._queued = 0
        self._congestion = owner.limits.congestion_bytes
        self._is_busy = self._has_called = False
        # Octets that arrived and are left for the next turn.
        self._unread = b""
        self._is_behind = False
        self._frames = FrameBudget(owner.limits, self._loop.time)
        # Octets of answers in all, how many of them were sent at the last progress, and its time while some wait.
        self._answered = self._delivered = 0
        self._moved_at: float | None = None
        self._abort: asyncio.TimerHandle | None = None
        self._is_paused = self._is_flushing = self._is_closed = False
        self._is_draining = self._has_announced = False
        self._handlers: Mapping[type[ngh2.Event], Callable[[Any], None]] = {
            ngh2.RequestReceived: self._request,
            ngh2.DataReceived: self._data,
            ngh2.TrailersReceived: self._trailers,
            ngh2.StreamReset: self._reset,
            ngh2.StreamClosed: self._closed,
            ngh2.SettingsReceived: self._greeted,
            ngh2.PingReceived: self._pinged,
            ngh2.PingAcknowledged: self._acknowledged,
            ngh2.ConnectionClosed: self._over,
        }
        self.peer = self.host = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        name = transport.get_extra_info("peername")
        self.peer, self.host = _peer(name), str(name[0]) if name else ""
        if not self._owner.admit(self):
            self._is_closed = True
            self._owner.closing(self, Closing.TOO_MANY_CONNECTIONS)
            self._transport.write(_REFUSED)
            self._transport.close()
            return
        self._liveness = Liveness(
            self._limits,
            is_busy=lambda: bool(self._calls),
            has_called=lambda: self._has_called,
            ping=self._ping,
            check=self._check,
            close=self.close,
        )
        self._http = ngh2.Connection(ngh2.Role.SERVER, _configuration(self._limits))
        self._http.initiate_connection(
            {
                ngh2.Setting.MAX_CONCURRENT_STREAMS: self._limits.max_connection_calls,
                ngh2.Setting.INITIAL_WINDOW_SIZE: STREAM_WINDOW,
                ngh2.Setting.MAX_HEADER_LIST_SIZE: self._limits.max_header_bytes,
            }
        )
        self._http.set_local_window_size(CONNECTION_WINDOW)
        self._flush()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._shut()
        if self._abort is not None:
            self._abort.cancel()
        self._owner.forget(self)

    def pause_writing(self) -> None:
        self._is_paused = True

    def resume_writing(self) -> None:
        self._is_paused = False
        self._flush()

    def data_received(self, data: bytes) -> None:
        if self._is_closed:
            return
        self._liveness.heard()
        if self._unread:
            data = self._unread + data
        if self._is_behind:
            self._unread = data
        else:
            self._receive(data)

    def _receive(self, data: bytes) -> None:
        """Process the frames of one turn, and leave the rest for the next turn of the event loop."""
        end = self._frames.turn(data)
        if self._frames.left < 0 and self._frames.is_spent():
            self.close(Closing.TOO_MANY_FRAMES)
            return
        self._unread = data[end:]
        try:
            self._http.receive_data(data[:end] if self._unread else data)
        except ngh2.DenialOfServiceError:
            self._break(ngh2.ErrorCode.ENHANCE_YOUR_CALM, Closing.TOO_MANY_FRAMES)
            return
        except ngh2.NGH2Error:
            self._break(ngh2.ErrorCode.PROTOCOL_ERROR, Closing.MALFORMED)
            return
        self._handle(self._http.events())
        self._soon()
        if self._is_behind or self._unread:
            self._go_on_later()

    def _go_on_later(self) -> None:
        """Read no further octets until the others are processed; the head of a frame may be incomplete."""
        if self._is_closed:
            return
        if len(self._unread) < frames.HEAD:
            self._is_behind = False
            self._transport.resume_reading()
            return
        self._loop.call_soon(self._go_on)
        if not self._is_behind:
            self._is_behind = True
            self._transport.pause_reading()

    def _go_on(self) -> None:
        if not self._is_closed:
            self._receive(self._unread)

    def _handle(self, events: list[ngh2.Event]) -> None:
        for event in events:
            if self._is_closed:
                return
            handle = self._handlers.get(type(event))
            if handle is not None:
                handle(event)

    def _reset(self, event: ngh2.StreamReset) -> None:
        call = self._calls.get(event.stream_id)
        if call is not None:
            is_hasty = self._liveness.heard_at < call.opened_at + frames.HASTY_SECONDS
            self._frames.left -= frames.HASTY_RESET if is_hasty else -1
        self._closed(event)

    def _closed(self, event: ngh2.StreamClosed | ngh2.StreamReset) -> None:
        self._half_open.discard(event.stream_id)
        if event.stream_id in self._calls:
            self._close(self._calls[event.stream_id])

    def _trailers(self, event: ngh2.TrailersReceived) -> None:
        self._ended(event.stream_id)

    def _greeted(self, _: ngh2.SettingsReceived) -> None:
        self._liveness.greeted()

    def _over(self, event: ngh2.ConnectionClosed) -> None:
        if event.error_code:
            self._owner.closing(self, Closing.MALFORMED)
        self._shut()

    def _break(self, code: ngh2.ErrorCode, closing: Closing) -> None:
        """Close the connection, whose state is lost."""
        self._owner.closing(self, closing)
        self._transport.write(_goaway(code, closing, last_stream_id=_LAST_STREAM_ID))
        self._shut()

    def _request(self, event: ngh2.RequestReceived) -> None:
        stream_id = event.stream_id
        try:
            found = opening(event.headers, self._owner.handlers)
        except Refusal as refusal:
            if not event.end_stream:
                self._half_open.add(stream_id)
            self._answer_without_message(stream_id, refusal.code, refusal.details, ())
            return
        except NotGrpc as error:
            if not event.end_stream:
                self._half_open.add(stream_id)
            self._respond(stream_id, [(b":status", error.status)])
            return
        call = ServedCall(self, stream_id, found, max_message_bytes=self._limits.max_message_bytes)
        call.opened_at = self._liveness.heard_at
        self._calls[stream_id] = call
        self._frames.left += frames.OPENED_CALL
        if call.starts_at_once:
            self._start(call)
        if event.end_stream:
            self._ended(stream_id)

    def _data(self, event: ngh2.DataReceived) -> None:
        call = self._calls.get(event.stream_id)
        if call is None:
            # The response is already complete.
            self.consume(event.stream_id, len(event.data))
            return
        try:
            call.received(event.data)
            self._count(call)
            self._expect_room()
        except Refusal as refusal:
            call.refuse(refusal)
            return
        if event.end_stream:
            self._ended(event.stream_id)

    def _ended(self, stream_id: int) -> None:
        self._half_open.discard(stream_id)
        call = self._calls.get(stream_id)
        if call is None:
            return
        try:
            call.ended()
        except Refusal as refusal:
            call.refuse(refusal)
            return
        if call.task is None:
            self._start(call)

    def _start(self, call: ServedCall) -> None:
        if self._queued > self._congestion:
            self._deferred[call.id] = call
            return
        if not self._is_busy and call.protects:
            self._is_busy = True
            self._owner.is_busy(self, busy=True)
        self._has_called = True
        # The connection owns the task: it references it, cancels it, and receives its outcome.
        call.task = self._loop.create_task(call.serve(self._owner.deadlines))
        call.task.add_done_callback(call.done)

    def _close(self, call: ServedCall) -> None:
        self._drop(call)
        call.leave()

    def _drop(self, call: ServedCall) -> None:
        del self._calls[call.id]
        self._held -= call.counted
        if self._deferred:
            self._deferred.pop(call.id, None)
        waiting = self._waiting.pop(call.id, None)
        if waiting is not None and not waiting.done():
            waiting.cancel()
        if not self._calls and not self._is_closed:
            self._liveness.used()

    # The `Stream` interface of calls.

    def consume(self, stream_id: int, octets: int) -> None:
        if not self._is_closed:
            self._http.acknowledge_received_data(octets, stream_id)

    def release(self, stream_id: int, octets: int) -> None:
        self.taken(stream_id)
        if octets:
            self.consume(stream_id, octets)
            self._soon()

    def taken(self, stream_id: int) -> None:
        call = self._calls.get(stream_id)
        if call is not None:
            self._count(call)

    def _expect_room(self) -> None:
        """Raise Refusal when the requests that no handler has taken are too many octets."""
        if self._held > self._limits.max_held_bytes:
            raise Refusal(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many octets of unfinished messages")

    def _count(self, call: ServedCall) -> None:
        self._held += call.held - call.counted
        call.counted = call.held

    def took_message(self) -> None:
        self._frames.left += frames.TAKEN_MESSAGE

    def is_congested(self) -> bool:
        return self._queued > self._congestion

    async def space(self) -> None:
        while not self._is_closed and self.is_congested():
            waiting = self._loop.create_future()
            self._congested.append(waiting)
            await waiting

    def expect_space(self, octets: int) -> None:
        if self._queued and self._queued + octets > self._limits.max_unread_bytes:
            raise Refusal(grpc.StatusCode.RESOURCE_EXHAUSTED, "the client does not read its answers")

    def begin(self, stream_id: int, metadata: Metadata) -> None:
        headers = [*HEADERS, *headers_of(metadata)] if metadata else HEADERS
        self._http.send_response(stream_id, headers)
        self._liveness.sent()
        self._soon()

    def answer(self, stream_id: int, message: bytes) -> None:
        self._http.send_data(stream_id, message)
        octets = len(message)
        self._answered += octets
        self._queued += octets
        self._frames.left += frames.WRITTEN_MESSAGE
        self._liveness.sent()
        self._soon()

    async def room(self, stream_id: int) -> None:
        self._flush()
        if not self._is_closed and self._http.queued_body_size(stream_id):
            waiting = self._waiting[stream_id] = self._loop.create_future()
            await waiting

    def finish(self, stream_id: int, code: grpc.StatusCode, details: str, metadata: Metadata) -> None:
        call = self._calls[stream_id]
        self._drop(call)
        self._frames.left += frames.ENDED_CALL
        if not call.has_ended:
            self._half_open.add(stream_id)
        if not call.has_begun:
            self._answer_without_message(stream_id, code, details, metadata)
            return
        is_plain = code is grpc.StatusCode.OK and not metadata and not details
        trailers = OK if is_plain else status_headers(code, details, metadata)
        with contextlib.suppress(ngh2.StreamProtocolError):
            self._http.send_trailers(stream_id, trailers)
        self._soon()

    def _answer_without_message(
        self, stream_id: int, code: grpc.StatusCode, details: str, metadata: Metadata
    ) -> None:
        self._respond(stream_id, [*HEADERS, *status_headers(code, details, metadata)])

    def _respond(self, stream_id: int, headers: list[Header]) -> None:
        """Respond with headers only; a client that cancelled in the same bytes receives nothing."""
        with contextlib.suppress(ngh2.StreamProtocolError):
            self._http.send_response(stream_id, headers, end_stream=True)
        self._liveness.sent()
        self._soon()

    # Output of the connection.

    def _soon(self) -> None:
        """Write all ready data at the end of this turn of the event loop."""
        if not self._is_flushing:
            self._is_flushing = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._is_flushing = False
        while not (self._is_paused or self._is_closed):
            data = self._http.data_to_send(_WRITE_OCTETS)
            if data:
                self._transport.write(data)
                self._frames.left += len(data) // frames.WRITTEN_OCTETS
            self._handle(self._http.events())
            if len(data) < _WRITE_OCTETS and not self._reset_half_open():
                break
        if not self._is_closed:
            self._queued = self._http.queued_body_size()
        self._wake_writers()
        if self._deferred or self._congested:
            self._use_space()
        if self._has_announced and not (self._calls or self._is_closed):
            self._terminate(ngh2.ErrorCode.NO_ERROR)

    def _use_space(self) -> None:
        """Start deferred calls and let one congested writer write, if the client has read enough."""
        if self._is_closed or self.is_congested():
            return
        deferred, self._deferred = self._deferred, {}
        for call in deferred.values():
            self._start(call)
        while self._congested:
            waiting = self._congested.popleft()
            if not waiting.done():
                waiting.set_result(None)
                self._soon()
                return

    def _reset_half_open(self) -> bool:
        """Reset streams that were answered before their client had sent everything (RFC 9113 §8.1)."""
        if self._is_closed or not self._half_open:
            return False
        answered = {each for each in self._half_open if not self._http.queued_body_size(each)}
        self._half_open -= answered
        for stream_id in answered:
            self._http.reset_stream(stream_id, ngh2.ErrorCode.NO_ERROR)
        return bool(answered)

    def _wake_writers(self) -> None:
        if self._is_closed or not self._waiting:
            return
        for stream_id in [each for each in self._waiting if not self._http.queued_body_size(each)]:
            waiting = self._waiting.pop(stream_id)
            if not waiting.done():
                waiting.set_result(None)

    # End of the connection.

    def drain(self) -> None:
        """Accept no more calls, and close the connection after the running ones."""
        if self._is_closed or self._is_draining:
            return
        self._is_draining = True
        # RFC 9113 §6.8: calls that the client sends before it receives the notice are served.
        self._http.send_shutdown_notice()
        self._http.ping(_LAST_PING)
        self._flush()

    def cancel(self) -> list["asyncio.Task[None]"]:
        """Cancel all calls and notify their clients; return the calls' tasks."""
        tasks = [call.task for call in self._calls.values() if call.task is not None]
        for task in tasks:
            task.cancel()
        return tasks

    def _acknowledged(self, event: ngh2.PingAcknowledged) -> None:
        if event.opaque_data == _LAST_PING and self._is_draining:
            self._http.send_goaway()
            self._has_announced = True
            self._soon()

    def _ping(self) -> None:
        self._http.ping()
        self._soon()

    def _pinged(self, _: ngh2.PingReceived) -> None:
        if self._liveness.is_pinged_too_often():
            self.close(Closing.TOO_MANY_PINGS)

    def settle(self) -> None:
        """Note that no call runs any more; done later, because most connections soon have another call."""
        if self._is_busy and not any(call.task and call.protects for call in self._calls.values()):
            self._is_busy = False
            self._owner.is_busy(self, busy=False)

    def _check(self, now: float) -> Closing | None:
        """Refuse requests that are incomplete for too long; return whether the client reads nothing for too long."""
        self.settle()
        late = now - self._limits.request_timeout_seconds
        for call in [call for call in self._calls.values() if call.is_incomplete and call.opened_at <= late]:
            call.refuse(Refusal(grpc.StatusCode.DEADLINE_EXCEEDED, _REQUEST_LATE))
        queued = self._http.queued_body_size()
        delivered = self._answered - queued
        if not (queued or self._is_paused):
            self._moved_at = None
            return None
        if self._moved_at is None or delivered != self._delivered:
            self._delivered, self._moved_at = delivered, now
        # A worker may leave its streams of jobs unread while it works.
        of_streams = sum(self._http.queued_body_size(each) for each in self._waiting)
        is_waiting_worker = queued <= of_streams and not self._is_paused
        limits = self._limits
        most = limits.idle_timeout_seconds if is_waiting_worker else limits.send_timeout_seconds
        return Closing.SEND_TIMEOUT if now >= self._moved_at + most else None

    def give_way(self) -> None:
        """Close, because another connection needs the place."""
        self.close(Closing.GAVE_WAY)

    def close(self, closing: Closing) -> None:
        """Send all ready data and the reason, and close the connection."""
        if self._is_closed:
            return
        self._owner.closing(self, closing)
        self._flush()
        if not self._is_closed:
            self._http.send_goaway(closing.code, debug_data=closing.encode())
            self._terminate(closing.code)

    def end(self) -> None:
        """Send all ready data and close the connection."""
        if self._is_closed:
            return
        self._flush()
        if not self._is_closed:
            self._terminate(ngh2.ErrorCode.NO_ERROR)

    def _terminate(self, code: ngh2.ErrorCode) -> None:
        self._http.terminate_connection(code)
        with contextlib.suppress(ngh2.NGH2Error):
            self._transport.write(self._http.data_to_send())
        self._shut()

    def _shut(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._unread = b""
        self._liveness.stop()
        for call in list(self._calls.values()):
            self._close(call)
        while self._congested:
            self._congested.popleft().cancel()
        self._transport.close()
        if self._transport.get_write_buffer_size():
            # A client that does not read would keep the socket open.
            self._abort = self._loop.call_later(self._limits.send_timeout_seconds, self._transport.abort)


def _configuration(limits: Limits) -> ngh2.Configuration:
    return ngh2.Configuration(
        auto_window_update=False,
        max_inbound_header_list_size=limits.max_header_bytes,
        # The connection of a proxy carries the cancellations of all its clients.
        stream_reset_rate_limit=(2 * limits.max_connection_calls, limits.max_connection_calls),
    )


def _peer(name: object) -> str:
    """Return the peer's name in gRPC's format: `ipv4:192.0.2.1:4711`."""
    match name:
        case (str(host), int(port)):
            return f"ipv4:{host}:{port}"
        case (str(host), int(port), *_):
            return f"ipv6:[{host}]:{port}"
        case _:
            return ""
