"""A TCP proxy of the campaign's own: what goes through it can be stopped without a word, as a broken network does."""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

HOST = "127.0.0.1"
CHUNK = 64 * 1024

Open = Callable[[], Awaitable[tuple[StreamReader, StreamWriter]]]
Luck = Callable[[], bool]


class Proxy:
    """Connections are taken while it is cut, and nothing passes through any until it is mended.

    `is_lucky` is asked for each piece that comes; a connection ends with the first that has no luck.
    """

    def __init__(self, open_target: Open, is_lucky: Luck) -> None:
        self._open_target = open_target
        self._is_lucky = is_lucky
        self._whole = asyncio.Event()
        self._whole.set()
        self._writers: set[StreamWriter] = set()
        self.port = 0

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    def cut(self) -> None:
        self._whole.clear()

    def mend(self) -> None:
        self._whole.set()

    def drop(self) -> None:
        """End every connection as it is; new ones may come."""
        for writer in list(self._writers):
            writer.transport.abort()

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._writers.add(writer)
        try:
            with suppress(OSError, ExceptionGroup):
                await self._whole.wait()
                await self._pass_on(reader, writer)
        finally:
            self._writers.discard(writer)
            writer.transport.abort()

    async def _pass_on(self, reader: StreamReader, writer: StreamWriter) -> None:
        target_reader, target_writer = await self._open_target()
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._pump(reader, target_writer))
                tasks.create_task(self._pump(target_reader, writer))
        finally:
            target_writer.transport.abort()

    async def _pump(self, reader: StreamReader, writer: StreamWriter) -> None:
        """An end in one direction is the end of the connection."""
        while (some := await reader.read(CHUNK)) and self._is_lucky():
            await self._whole.wait()
            writer.write(some)
            await writer.drain()
        raise ConnectionResetError


def always() -> bool:
    return True


@asynccontextmanager
async def proxied(open_target: Open, is_lucky: Luck = always) -> AsyncIterator[Proxy]:
    proxy = Proxy(open_target, is_lucky)
    server = await asyncio.start_server(proxy.serve, HOST, 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        proxy.mend()
        proxy.drop()


def to_port(port: int) -> Open:
    return lambda: asyncio.open_connection(HOST, port)


def to_socket(path: str) -> Open:
    return lambda: asyncio.open_unix_connection(path)
