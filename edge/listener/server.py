"""The HTTP listener of a process."""

import asyncio
import logging
from collections.abc import Callable, Sequence

from aiohttp import HttpVersion11, StreamReader, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import RawRequestMessage

from edge.config import EdgeConfig
from edge.listener.connection import Connection
from edge.listener.meter import HttpMeter
from edge.listener.refusals import answer, refusal_of
from edge.listener.traces import Handler, traced
from server.platform.connection_table import ConnectionTable
from server.platform.errors import InvalidArgument
from server.platform.metrics import Metrics
from server.platform.networks import Networks
from server.platform.open_files import open_file_limit
from server.platform.sockets import expect_free, free_port, listen_addresses
from server.platform.tracing import Tracer

logger = logging.getLogger(__name__)

# Reserved for other descriptors of the process: gRPC, the database, files.
OTHER_DESCRIPTORS = 2048
SECONDS_BETWEEN_WARNINGS = 60.0

_Factory = Callable[
    [RawRequestMessage, StreamReader, web.RequestHandler, AbstractStreamWriter, "asyncio.Task[None]"],
    web.BaseRequest,
]


class EdgeServer:
    """Listens for an application; `start` returns the port.

    Connections of `trusted_proxies`, which are networks, count only towards the bound of the process. Requests are
    counted in `metrics` and traced by `tracer`, if these are given. `section` is the name of the configuration section
    with the port.
    """

    def __init__(
        self,
        app: web.Application,
        config: EdgeConfig,
        *,
        trusted_proxies: Sequence[str] = (),
        metrics: Metrics | None = None,
        tracer: Tracer | None = None,
        section: str = "edge",
    ) -> None:
        self._config = config
        self._section = section
        self._meter = HttpMeter(metrics) if metrics is not None else None
        self._tracer = tracer
        self._trusted = Networks(trusted_proxies)
        self._runner = web.AppRunner(
            app,
            # A disconnected client cancels its call.
            handler_cancellation=True,
            # aiohttp waits twice: before it cancels the handlers, and after.
            shutdown_timeout=config.shutdown_seconds / 2,
        )
        self._listener: asyncio.Server | None = None
        self._next_warning = 0.0

    async def start(self) -> int:
        """Listen at every address of the host; raises PortTaken."""
        config = self._config
        port = config.port or free_port(config.host)
        expect_free(config.host, port, section=self._section, reuse_port=config.reuse_port)
        await self._runner.setup()
        server = self._runner.server
        if server is None:
            raise RuntimeError("the runner has no server after its setup")
        server.request_factory = _authorization_start(server.request_factory)
        server.request_handler = _answering(server.request_handler)
        if self._tracer is not None:
            server.request_handler = traced(server.request_handler, self._tracer)
        table = self._table()
        if self._meter is not None:
            self._meter.watch(table)
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(
            lambda: Connection(server, table, config, on_refused=self._warn, meter=self._meter),
            listen_addresses(config.host),
            port,
            reuse_port=config.reuse_port or None,
        )
        return port

    async def stop(self) -> None:
        """Refuse new connections, wait `shutdown_seconds` for requests, then cancel them."""
        if self._listener is not None:
            self._listener.close()
        await self._runner.cleanup()

    def _table(self) -> ConnectionTable:
        config, limit = self._config, open_file_limit()
        most = min(config.max_connections, max(limit - OTHER_DESCRIPTORS, limit // 2))
        if most < config.max_connections:
            logger.warning(
                "the limit of open files restricts the number of connections",
                extra={"open_files": limit, "connections": most},
            )
        # One client must not take all connections.
        most_of_host = min(config.max_connections_per_address, max(most // 2, 1))
        return ConnectionTable(most=most, most_of_host=most_of_host, exempt=self._trusted)

    def _warn(self, peer: str) -> None:
        """Log a refused connection, at most one a minute."""
        now = asyncio.get_running_loop().time()
        if now >= self._next_warning:
            self._next_warning = now + SECONDS_BETWEEN_WARNINGS
            logger.warning("connections are refused: too many are open", extra={"peer": peer})


def _authorization_start(make: _Factory) -> _Factory:
    """Notify each connection when a request begins; other HTTP versions are answered in HTTP/1.1."""

    def begin(
        message: RawRequestMessage,
        payload: StreamReader,
        protocol: web.RequestHandler,
        writer: AbstractStreamWriter,
        task: "asyncio.Task[None]",
    ) -> web.BaseRequest:
        if isinstance(protocol, Connection):
            protocol.begin(payload, message.version)
            if not protocol.speaks_our_version:
                message = message._replace(version=HttpVersion11)
        return make(message, payload, protocol, writer, task)

    return begin


def _answering(handle: Handler) -> Handler:
    """Answer errors of aiohttp itself, and close the connection when no request can follow."""

    async def outermost(request: web.BaseRequest) -> web.StreamResponse:
        connection = request.protocol
        if isinstance(connection, Connection) and not connection.speaks_our_version:
            return answer(InvalidArgument("expected HTTP/1.1 or HTTP/1.0"), request)
        try:
            response = await handle(request)
        except web.HTTPException as refused:
            return answer(refusal_of(refused), request)
        if isinstance(connection, Connection) and connection.has_broken_body:
            response.force_close()
        return response

    return outermost
