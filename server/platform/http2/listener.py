"""Accepts connections and stops gracefully; `GrpcServer` uses it like `grpc.aio.Server`."""

import asyncio
import socket
from collections.abc import Mapping, Sequence

import grpc

from server.platform.deadlines import Deadlines
from server.platform.http2.connection import Connection
from server.platform.http2.handlers import Handlers
from server.platform.http2.limits import Limits

_BACKLOG = 1024
# Time for a connection to tell its client that its calls were cancelled.
_LAST_WORDS_SECONDS = 1.0


class Listener:
    """Serves handlers whose methods are coroutines or asynchronous generators."""

    def __init__(self, limits: Limits, *, reuse_port: bool) -> None:
        self.limits = limits
        self.handlers = Handlers()
        self.deadlines = Deadlines()
        self._reuse_port = reuse_port
        self._addresses: list[tuple[str, int]] = []
        self._servers: list[asyncio.Server] = []
        self._connections: set[Connection] = set()
        self._none_left = asyncio.Event()
        self._is_stopping = False

    def add_generic_rpc_handlers(self, handlers: Sequence[grpc.GenericRpcHandler]) -> None:
        self.handlers.add(handlers)

    def add_registered_method_handlers(self, service: str, handlers: Mapping[str, object]) -> None:
        """Do nothing: generated code also adds all handlers as generic ones."""

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
        if self._is_stopping or len(self._connections) >= self.limits.max_connections:
            return False
        self._connections.add(connection)
        return True

    def forget(self, connection: Connection) -> None:
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
