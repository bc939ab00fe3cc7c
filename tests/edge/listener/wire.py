"""Clients that send exact bytes."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from tests.edge.harness import Edge

PATIENCE_SECONDS = 20.0

HEAD = b"GET /v2/status HTTP/1.1\r\nHost: a\r\n\r\n"
HALF_HEAD = HEAD[:-2]
LONG_POLL = b"POST /v2/jobs/activation HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def problem(self) -> dict[str, Any]:
        assert self.headers["content-type"] == "application/problem+json"
        members: dict[str, Any] = json.loads(self.body)
        return members


@dataclass(frozen=True)
class Client:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        with suppress(ConnectionError):
            await self.writer.drain()

    async def answer(self) -> Answer:
        async with asyncio.timeout(PATIENCE_SECONDS):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {
                name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:-2])
            }
            body = await self.reader.readexactly(int(headers.get("content-length", "0")))
        return Answer(int(head[0].split()[1]), headers, body)

    async def is_asked_to_go_on(self) -> None:
        """Return when the server has sent 100 Continue."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert await self.reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"

    async def rest(self) -> bytes:
        """Return all bytes until the server closes the connection."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self.reader.read()

    async def end(self) -> None:
        """Return when the server has closed the connection, cleanly or not."""
        with suppress(ConnectionError):
            await self.rest()


@asynccontextmanager
async def connected(edge: Edge, *, address: str = "127.0.0.1") -> AsyncIterator[Client]:
    """Connect from an address of this host."""
    reader, writer = await asyncio.open_connection("127.0.0.1", edge.port, local_addr=(address, 0))
    try:
        yield Client(reader, writer)
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
