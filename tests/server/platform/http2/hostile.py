"""Clients of HTTP/2 that misbehave, from hand-made frames: idle connections and floods.

Each connection comes from a chosen loopback address, which the listener counts by itself.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

HOST = "127.0.0.1"
SECONDS = 20.0

# RFC 9113 §6: types of frames.
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS = 0, 1, 2, 3, 4
PING, GOAWAY, WINDOW_UPDATE, CONTINUATION, UNKNOWN = 6, 7, 8, 9, 0x42
END_STREAM, END_HEADERS, ACK = 1, 4, 1
CANCEL, FLOW_CONTROL_ERROR, ENHANCE_YOUR_CALM = 8, 3, 11
INITIAL_WINDOW_SIZE = 4

_HEAD = 9
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind: int, payload: bytes = b"", *, flags: int = 0, stream_id: int = 0) -> bytes:
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream_id.to_bytes(4, "big") + payload


def settings(**values: int) -> bytes:
    """Return a SETTINGS frame; the only name is `window`."""
    payload = b"".join(
        INITIAL_WINDOW_SIZE.to_bytes(2, "big") + value.to_bytes(4, "big") for value in values.values()
    )
    return frame(SETTINGS, payload)


def window_update(octets: int = 1, stream_id: int = 0) -> bytes:
    return frame(WINDOW_UPDATE, octets.to_bytes(4, "big"), stream_id=stream_id)


def reset(stream_id: int) -> bytes:
    return frame(RST_STREAM, CANCEL.to_bytes(4, "big"), stream_id=stream_id)


def head(path: str, stream_id: int, *, flags: int = END_HEADERS) -> bytes:
    """Return HEADERS of a call, without compression (RFC 7541 §6.2.2)."""
    fields = {
        ":method": "POST",
        ":scheme": "http",
        ":path": path,
        ":authority": "test",
        "content-type": "application/grpc",
    }
    block = b"".join(
        b"\0" + bytes((len(name),)) + name.encode() + bytes((len(value),)) + value.encode()
        for name, value in fields.items()
    )
    return frame(HEADERS, block, flags=flags, stream_id=stream_id)


# What a client sends first: the preface and its settings.
BEGINNING = _PREFACE + settings()


@dataclass
class Frame:
    """A frame that the server sent."""

    kind: int
    flags: int
    stream_id: int
    payload: bytes


@dataclass
class Hostile:
    """A connection that sends any octets."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    _octets: bytes = field(default=b"", repr=False)

    async def send(self, octets: bytes) -> None:
        self.writer.write(octets)
        await self.writer.drain()

    async def until(self, kind: int) -> Frame | None:
        """Read frames up to one of this type; None when the connection ends before."""
        async with asyncio.timeout(SECONDS):
            while (found := await self._frame()) is not None and found.kind != kind:
                pass
        return found

    async def has_status(self) -> bool:
        """Read up to the trailers of a call; False when the connection ends before."""
        while (headers := await self.until(HEADERS)) is not None:
            if headers.flags & END_STREAM:
                return True
        return False

    async def farewell(self) -> tuple[int, bytes] | None:
        """Return code and reason of GOAWAY, after the server has closed the connection."""
        goaway = await self.until(GOAWAY)
        async with asyncio.timeout(SECONDS):
            while await self._more():
                pass
        return goaway and (int.from_bytes(goaway.payload[4:8], "big"), goaway.payload[8:])

    async def _frame(self) -> Frame | None:
        while len(self._octets) < _HEAD or len(self._octets) < _HEAD + self._length():
            if not await self._more():
                return None
        end = _HEAD + self._length()
        octets, self._octets = self._octets[:end], self._octets[end:]
        return Frame(octets[3], octets[4], int.from_bytes(octets[5:9], "big"), octets[9:])

    def _length(self) -> int:
        return int.from_bytes(self._octets[:3], "big")

    async def _more(self) -> bool:
        try:
            read = await self.reader.read(65536)
        except ConnectionError:
            read = b""
        self._octets += read
        return bool(read)


@asynccontextmanager
async def hostile(
    port: int, octets: bytes = BEGINNING, *, host: str = HOST, address: str = HOST
) -> AsyncIterator[Hostile]:
    """Connect from a loopback address and send the octets."""
    reader, writer = await asyncio.open_connection(host, port, local_addr=(address, 0))
    writer.write(octets)
    try:
        yield Hostile(reader, writer)
    finally:
        writer.transport.abort()


@asynccontextmanager
async def idle_connections(
    port: int, count: int, *, host: str = HOST, address: str = HOST
) -> AsyncIterator[Sequence[Hostile]]:
    """Open connections that send the preface and SETTINGS, and never a call."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(hostile(port, host=host, address=address)) for _ in range(count)
        ]


async def flood(port: int, octets: bytes, *, host: str = HOST, address: str = HOST) -> int:
    """Send the octets again and again on one connection until the server closes it; return how many it took."""
    sent = 0
    async with hostile(port, host=host, address=address) as peer:
        try:
            while True:
                await peer.send(octets)
                sent += len(octets)
        except ConnectionError:
            return sent
