"""Accepts connections and stops gracefully; `GrpcServer` uses it like `grpc.aio.Server`."""

import asyncio
import logging
import socket
from collections.abc import Sequence

import grpc

from server.platform.connection_table import ConnectionTable
from server.platform.deadlines import Deadlines
from server.platform.http2.connection import Connection
from server.platform.http2.handlers import Handlers
from server.platform.http2.limits import Limits
from server.platform.http2.meter import Closing, GrpcMeter
from server.platform.metrics import Metrics
from server.platform.networks import Networks, address_of

logger = logging.getLogger(__name__)

_BACKLOG = 1024
# Time for a connection to tell its client that its calls were cancelled.
_LAST_WORDS_SECONDS = 1.0
_SECONDS_BETWEEN_WARNINGS = 60.0
_NO_NETWORKS = Networks(())
# They end connections of well-behaved clients too.
_USUAL = frozenset({Closing.IDLE_TIMEOUT, Closing.FIRST_CALL_TIMEOUT, Closing.KEEPALIVE_TIMEOUT})


class Listener:
    """Serves handlers whose methods are coroutines or asynchronous generators.

    Connections of `trusted` networks, which are those of proxies, have no bound by address.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        reuse_port: bool,
        trusted: Networks = _NO_NETWORKS,
        metrics: Metrics | None = None,
    ) -> None:
        self.limits = limits
        self.handlers = Handlers()
        self.deadlines = Deadlines()
        self._reuse_port = reuse_port
        self._addresses: list[tuple[str, int]] = []
        self._servers: list[asyncio.Server] = []
        self._connections: set[Connection] = set()
        most = limits.max_connections
        # One address must not take all connections.
        most_of_host = min(limits.max_connections_per_address, max(most // 2, 1))
        self._table = ConnectionTable(most=most, most_of_host=most_of_host, exempt=trusted)
        self._meter = GrpcMeter(metrics) if metrics is not None else None
        if self._meter is not None:
            self._meter.watch(self._table, self._settle)
        self._next_warning = 0.0
        self._none_left = asyncio.Event()
        self._is_stopping = False

    def add_generic_rpc_handlers(self, handlers: Sequence[grpc.GenericRpcHandler]) -> None:
        self.handlers.add(handlers, protects=True)

    def add_open_handlers(self, handlers: Sequence[grpc.GenericRpcHandler]) -> None:
        """Add handlers that need no credential: their calls do not keep a connection from giving way."""
        self.handlers.add(handlers, protects=False)

    def listen(self, address: str, port: int) -> None:
        """Add an address, at which `start` listens."""
        self._addresses.append((address, port))

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        for address, port in self._addresses:
            sock = _listening(address, port, reuse_port=self._reuse_port)
            self._servers.append(
                await loop.create_server(lambda: Connection(self), sock=sock, backlog=_BACKLOG)
            )

    async def stop(self, grace: float) -> None:
        """Stop; running calls have `grace` seconds to end."""
        self._is_stopping = True
        for server in self._servers:
            server.close()
        for connection in list(self._connections):
            connection.drain()
        await self._wait(grace)
        tasks = [task for connection in self._connections for task in connection.cancel()]
        await asyncio.gather(*tasks, return_exceptions=True)
        for connection in list(self._connections):
            connection.end()
        await self._wait(_LAST_WORDS_SECONDS)

    async def _wait(self, seconds: float) -> None:
        """Wait until no connection is left or the time has passed."""
        try:
            async with asyncio.timeout(seconds):
                while self._connections:
                    self._none_left.clear()
                    await self._none_left.wait()
        except TimeoutError:
            pass

    def admit(self, connection: Connection) -> bool:
        if self._is_stopping:
            return False
        address = address_of(connection.host)
        if not self._table.admit(connection, address):
            self._settle()
            if not self._table.admit(connection, address):
                return False
        self._connections.add(connection)
        return True

    def _settle(self) -> None:
        """Let the table know of the connections whose last call has ended."""
        for connection in self._connections:
            connection.settle()

    def is_busy(self, connection: Connection, *, busy: bool) -> None:
        if busy:
            self._table.begin(connection)
        else:
            self._table.end(connection)

    def closing(self, connection: Connection, closing: Closing) -> None:
        """Count the connection, and log it, at most one a minute."""
        if self._meter is not None:
            self._meter.closed(closing)
        now = asyncio.get_running_loop().time()
        if closing not in _USUAL and now >= self._next_warning:
            self._next_warning = now + _SECONDS_BETWEEN_WARNINGS
            logger.warning("a gRPC connection was closed", extra={"reason": closing, "peer": connection.peer})

    def forget(self, connection: Connection) -> None:
        self._table.remove(connection)
        self._connections.discard(connection)
        if not self._connections:
            self._none_left.set()


def _listening(address: str, port: int, *, reuse_port: bool) -> socket.socket:
    """Return a listening socket; the IPv6 wildcard address includes IPv4 where the system supports it."""
    if address in ("", "::"):
        everywhere = "::" if socket.has_dualstack_ipv6() else "0.0.0.0"  # noqa: S104  # as it is configured
        family = socket.AF_INET6 if everywhere == "::" else socket.AF_INET
        return socket.create_server(
            (everywhere, port), family=family, reuse_port=reuse_port, dualstack_ipv6=everywhere == "::"
        )
    family, _, _, _, place = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
    return socket.create_server(place[:2], family=family, reuse_port=reuse_port)
