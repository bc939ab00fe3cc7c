"""A proxy before the database's socket that cuts a connection at a given byte, or keeps what ends a statement."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

SOCKET = ".s.PGSQL.5432"
CHUNK = 65536
# The end of a statement, and of its transaction, in the extended protocol.
SYNC = b"S\x00\x00\x00\x04"


class Way(Enum):
    TO_SERVER = "to the server"
    TO_CLIENT = "to the client"


@dataclass(frozen=True)
class Cut:
    """Both sides lose the connection on which this byte would go this way; those before it are delivered."""

    way: Way
    byte: int


class Proxy:
    """Passes everything on, but for what it was told to do once."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._cut: Cut | None = None
        self._holds = False
        self.held = asyncio.Event()
        self._is_open = asyncio.Event()
        self._is_open.set()

    def cut(self, cut: Cut) -> None:
        """Cut the connection that carries this byte, counted from now on."""
        self._cut = cut

    def hold(self) -> None:
        """Keep the end of the next statement, as an owner that freezes in between; `held` tells when it happened."""
        self._holds = True

    def release(self) -> None:
        """Let new connections through again, which waited since; what was kept is lost."""
        self._is_open.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._is_open.wait()
            server_reader, server_writer = await asyncio.open_unix_connection(self._target)
        except OSError:
            await _abort(writer)
            return
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._pass_on(Way.TO_SERVER, reader, server_writer))
                tasks.create_task(self._pass_on(Way.TO_CLIENT, server_reader, writer))
        except* OSError:
            pass
        finally:
            await _abort(writer)
            await _abort(server_writer)

    async def _pass_on(self, way: Way, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while chunk := await source.read(CHUNK):
            await self._deliver(self._kept(way, chunk), sink)
            if self._is_cut(way, chunk):
                break
        raise ConnectionResetError

    async def _deliver(self, chunk: bytes, sink: asyncio.StreamWriter) -> None:
        sink.write(chunk)
        await sink.drain()

    def _is_cut(self, way: Way, chunk: bytes) -> bool:
        if self._cut is None or self._cut.way is not way:
            return False
        left = self._cut.byte - len(chunk)
        self._cut = Cut(way, left) if left >= 0 else None
        return left < 0

    def _kept(self, way: Way, chunk: bytes) -> bytes:
        """The part of the chunk that is delivered."""
        if self._cut is not None and self._cut.way is way:
            return chunk[: self._cut.byte]
        if self._holds and way is Way.TO_SERVER and chunk.endswith(SYNC):
            self._holds = False
            self._is_open.clear()
            self.held.set()
            return chunk.removesuffix(SYNC)
        return chunk


async def _abort(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()
    with suppress(OSError):
        await writer.wait_closed()


@asynccontextmanager
async def proxied(dsn: str) -> AsyncIterator[tuple[Proxy, str]]:
    """A proxy and the DSN that leads through it."""
    parts = urlsplit(dsn)
    proxy = Proxy(Path(parse_qs(parts.query)["host"][0]) / SOCKET)
    with tempfile.TemporaryDirectory(prefix="gnomon-proxy-") as directory:
        socket = Path(directory) / SOCKET
        async with asyncio.TaskGroup() as tasks:
            connections = []

            def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                connections.append(tasks.create_task(proxy.serve(reader, writer)))

            server = await asyncio.start_unix_server(connected, socket)
            async with server:
                yield proxy, parts._replace(query=f"host={quote(directory, safe='')}").geturl()
            for connection in connections:
                connection.cancel()
