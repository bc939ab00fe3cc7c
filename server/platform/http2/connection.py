"""One connection: bytes to HTTP/2 events, events to calls, responses back to bytes.

Responses that become ready in one turn of the event loop are sent in one write. If the client does not read,
flow control holds responses back in their streams, and their writers wait.
"""

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Protocol, cast

import grpc
import ngh2

from server.platform.deadlines import Deadlines
from server.platform.http2.call import ServedCall
from server.platform.http2.handlers import Handlers
from server.platform.http2.limits import CONNECTION_WINDOW, KIBIBYTE, STREAM_WINDOW, Limits
from server.platform.http2.liveness import Liveness
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


class Owner(Protocol):
    """The listener's side of a connection."""

    handlers: Handlers
    limits: Limits
    deadlines: Deadlines

    def admit(self, connection: "Connection") -> bool:
        """Whether another connection is allowed."""
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
        # Streams with a complete response whose client has not closed its side yet.
        self._half_open: set[int] = set()
        self._held = 0
        self._is_paused = self._is_flushing = self._is_closed = False
        self._is_draining = self._has_announced = False
        self._handlers: Mapping[type[ngh2.Event], Callable[[Any], None]] = {
            ngh2.RequestReceived: self._request,
            ngh2.DataReceived: self._data,
            ngh2.TrailersReceived: self._trailers,
            ngh2.StreamReset: self._closed,
            ngh2.StreamClosed: self._closed,
            ngh2.SettingsReceived: self._greeted,
            ngh2.PingReceived: self._pinged,
            ngh2.PingAcknowledged: self._acknowledged,
            ngh2.ConnectionClosed: self._over,
        }
        self.peer = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.peer = _peer(transport.get_extra_info("peername"))
        if not self._owner.admit(self):
            self._is_closed = True
            self._transport.abort()
            return
        self._liveness = Liveness(
            self._limits, is_busy=lambda: bool(self._calls), ping=self._ping, close=self.end
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
        try:
            self._http.receive_data(data)
        except ngh2.NGH2Error:
            self._fail()
            return
        self._handle(self._http.events())
        self._soon()

    def _handle(self, events: list[ngh2.Event]) -> None:
        for event in events:
            handle = self._handlers.get(type(event))
            if handle is not None:
                handle(event)

    def _closed(self, event: ngh2.StreamClosed | ngh2.StreamReset) -> None:
        self._half_open.discard(event.stream_id)
        if event.stream_id in self._calls:
            self._close(self._calls[event.stream_id])

    def _trailers(self, event: ngh2.TrailersReceived) -> None:
        self._ended(event.stream_id)

    def _greeted(self, _: ngh2.SettingsReceived) -> None:
        self._liveness.greeted()

    def _over(self, _: ngh2.ConnectionClosed) -> None:
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
        self._calls[stream_id] = call
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
        # The connection owns the task: it references it, cancels it, and receives its outcome.
        call.task = self._loop.create_task(call.serve(self._owner.deadlines))
        call.task.add_done_callback(call.done)

    def _close(self, call: ServedCall) -> None:
        self._drop(call)
        call.leave()

    def _drop(self, call: ServedCall) -> None:
        del self._calls[call.id]
        self._held -= call.counted
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

    def begin(self, stream_id: int, metadata: Metadata) -> None:
        headers = [*HEADERS, *headers_of(metadata)] if metadata else HEADERS
        self._http.send_response(stream_id, headers)
        self._liveness.sent()
        self._soon()

    def answer(self, stream_id: int, message: bytes) -> None:
        self._http.send_data(stream_id, message)
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
            self._handle(self._http.events())
            if len(data) < _WRITE_OCTETS and not self._reset_half_open():
                break
        self._wake_writers()
        if self._has_announced and not (self._calls or self._is_closed):
            self._terminate(ngh2.ErrorCode.NO_ERROR)

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
        if self._liveness.is_pinged_too_often() and not self._is_closed:
            self._http.send_goaway(ngh2.ErrorCode.ENHANCE_YOUR_CALM, debug_data=b"too_many_pings")
            self.end(ngh2.ErrorCode.ENHANCE_YOUR_CALM)

    def end(self, code: ngh2.ErrorCode = ngh2.ErrorCode.NO_ERROR) -> None:
        """Send all ready data and close the connection."""
        if self._is_closed:
            return
        self._flush()
        if not self._is_closed:
            self._terminate(code)

    def _terminate(self, code: ngh2.ErrorCode) -> None:
        self._http.terminate_connection(code)
        self._fail()

    def _fail(self) -> None:
        """Write the reason, if any, and close the connection."""
        try:
            data = self._http.data_to_send()
        except ngh2.NGH2Error:
            data = b""
        if data:
            self._transport.write(data)
        self._shut()

    def _shut(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._liveness.stop()
        for call in list(self._calls.values()):
            self._close(call)
        self._transport.close()


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
