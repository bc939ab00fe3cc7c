"""A client connection: aiohttp's protocol with deadlines, a place in the table, and problems as error responses.

All use of undocumented aiohttp behaviour is in this module: the overridden `log_access` and `handle_error`, the queue
`_messages`, and the moments at which aiohttp calls them. tests/edge/listener fails when these change.
"""

import asyncio
import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import cast

from aiohttp import HttpVersion, HttpVersion10, HttpVersion11, StreamReader, web
from aiohttp.http import RawRequestMessage

from edge.config import EdgeConfig
from edge.listener.meter import HttpMeter, Refusal
from edge.listener.refusals import answer, malformed, raw_answer
from edge.listener.watch import Phase, Watch
from edge.problem import RequestTimeout
from server.platform.connection_table import ConnectionTable
from server.platform.errors import Internal, InvalidArgument, ResourceExhausted, ServiceError
from server.platform.networks import address_of

logger = logging.getLogger(__name__)

VERSIONS = frozenset({HttpVersion10, HttpVersion11})
LINGERING_SECONDS = 10.0
RETRY_SECONDS = 1


class Connection(web.RequestHandler):
    """`server` is that of an `AppRunner`; its request factory calls `begin` for each request.

    `on_refused` is called with the address of a client whose connection a bound refuses; `meter` counts connections.
    """

    def __init__(
        self,
        server: web.Server,
        table: ConnectionTable,
        config: EdgeConfig,
        *,
        on_refused: Callable[[str], None],
        meter: HttpMeter | None = None,
    ) -> None:
        super().__init__(
            server,
            loop=asyncio.get_running_loop(),
            # The watch closes idle connections first: aiohttp's timer cannot distinguish a head from idleness.
            keepalive_timeout=2 * (config.idle_timeout_seconds + config.head_timeout_seconds),
            lingering_time=min(LINGERING_SECONDS, config.body_timeout_seconds),
            access_log=None,  # type: ignore[arg-type]  # so there is none
            # The bound applies to the transferred bytes; compressed bodies are not supported.
            auto_decompress=False,
        )
        self._table = table
        self._config = config
        self._on_refused = on_refused
        self._meter = meter
        self._loop_time = asyncio.get_running_loop().time
        self._began = 0.0
        self._watch = Watch(
            {
                Phase.HEAD: config.head_timeout_seconds,
                Phase.IDLE: config.idle_timeout_seconds,
                Phase.BODY: config.body_timeout_seconds,
                Phase.REST: config.body_timeout_seconds,
                Phase.CLOSING: config.send_timeout_seconds,
            },
            send_timeout=config.send_timeout_seconds,
            on_late=self._end_late,
            on_stalled=self._end_stalled,
        )
        self._client: asyncio.Transport | None = None
        self._body: StreamReader | None = None
        self._head_bytes = 0
        self.has_broken_body = False
        self.version = HttpVersion11

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._client = cast("asyncio.Transport", transport)
        self._watch.start()
        peer: str = (transport.get_extra_info("peername") or ("",))[0]
        if self._table.admit(self, address_of(peer)):
            super().connection_made(transport)
        else:
            self._on_refused(peer)
            self._count(Refusal.CONNECTIONS)
            self._refuse(ResourceExhausted("too many connections are open"), retry_seconds=RETRY_SECONDS)

    def connection_lost(self, exc: BaseException | None) -> None:
        self._watch.stop()
        self._table.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if data and self._watch.phase is Phase.IDLE:
            self._watch.enter(Phase.HEAD)
        if self._watch.phase is Phase.HEAD:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > self._config.max_head_bytes:
            # The handler of a complete head begins before this call; in that case the bytes are a body's.
            asyncio.get_running_loop().call_soon(self._refuse_long_head)
        if self._body is not None:
            self._follow(self._body)

    def begin(self, body: StreamReader, version: HttpVersion) -> None:
        """Note that a request head is complete and its handler begins."""
        self._table.begin(self)
        self._head_bytes = 0
        self._began = self._loop_time()
        self.version = version
        self._body = None if body.is_eof() else body
        self._watch.enter(Phase.WORK if self._body is None else Phase.BODY)

    @property
    def speaks_our_version(self) -> bool:
        return self.version in VERSIONS

    def log_access(self, request: web.BaseRequest, response: web.StreamResponse, time: float | None) -> None:
        """Record that a response is sent; aiohttp calls this at that moment."""
        super().log_access(request, response, time)
        if self._meter is not None:
            self._meter.answered(response.status, self._loop_time() - self._began)
        self._table.end(self)
        self._watch.enter(Phase.IDLE if self._body is None else Phase.REST)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,  # noqa: ARG002  # it repeats the request
    ) -> web.StreamResponse:
        """Respond to a malformed request, or to an exception that no handler caught."""
        if request.writer.output_size:
            self._watch.enter(Phase.CLOSING)
            raise ConnectionError("the answer has begun, there can be no other")
        if status == HTTPStatus.BAD_REQUEST:
            self._count(Refusal.MALFORMED)
            return answer(malformed(exc), request)
        logger.error("request failed", exc_info=exc)
        return answer(Internal(), request)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch.stall()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._watch.flow()

    def give_way(self) -> None:
        """Close an idle connection."""
        self._count(Refusal.GAVE_WAY)
        self.force_close()

    def force_close(self) -> None:
        super().force_close()
        self._watch.enter(Phase.CLOSING)

    def _follow(self, body: StreamReader) -> None:
        """Record that a body is complete or broken."""
        if body.is_eof():
            self._body = None
            self._watch.enter(Phase.WORK if self._watch.phase is Phase.BODY else Phase.IDLE)
        elif self._has_malformed_message():
            self._fail(body, malformed(None), Refusal.MALFORMED)

    def _has_malformed_message(self) -> bool:
        """Whether the parser failed; aiohttp reports that only after the current response."""
        return bool(self._messages) and not isinstance(self._messages[-1][0], RawRequestMessage)

    def _fail(self, body: StreamReader, error: ServiceError, refusal: Refusal) -> None:
        """Make the handler that reads a body fail, and close the connection afterwards."""
        self._count(refusal)
        self._body = None
        if self._watch.phase is Phase.REST:
            self.force_close()
            return
        self.has_broken_body = True
        self._watch.enter(Phase.WORK)
        body.set_exception(error)
        body.feed_eof()
        self.close()

    def _end_late(self, phase: Phase) -> None:
        match phase:
            case Phase.HEAD if self._head_bytes:
                seconds = self._config.head_timeout_seconds
                self._count(Refusal.HEAD_TIMEOUT)
                self._refuse(RequestTimeout(f"expected the complete request head within {seconds:g} s"))
            case Phase.BODY if self._body is not None:
                seconds = self._config.body_timeout_seconds
                late = RequestTimeout(f"expected the complete body within {seconds:g} s")
                self._fail(self._body, late, Refusal.BODY_TIMEOUT)
            case Phase.CLOSING:
                self._abort()
            case _:
                self.force_close()

    def _refuse_long_head(self) -> None:
        if self._watch.phase is Phase.HEAD:
            most = self._config.max_head_bytes
            self._count(Refusal.HEAD_SIZE)
            self._refuse(InvalidArgument(f"expected a request head of at most {most} bytes"))

    def _refuse(self, error: ServiceError, *, retry_seconds: int = 0) -> None:
        """Send an error response without a handler, and close."""
        if self._client is not None and not self._client.is_closing():
            self._client.write(raw_answer(error, retry_seconds=retry_seconds))
            self._client.close()
        self.force_close()

    def _end_stalled(self) -> None:
        self._count(Refusal.SEND_TIMEOUT)
        self._abort()

    def _count(self, refusal: Refusal) -> None:
        if self._meter is not None:
            self._meter.refused(refusal)

    def _abort(self) -> None:
        if self._client is not None:
            self._client.abort()
