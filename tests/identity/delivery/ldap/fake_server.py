"""A directory server that answers as a test says, also in ways that no real one should."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

BIND_RESPONSE, ENTRY, DONE, REFERENCE, EXTENDED_RESPONSE = 0x61, 0x64, 0x65, 0x73, 0x78
_BIND_REQUEST, _SEARCH_REQUEST, _EXTENDED_REQUEST = 0x60, 0x63, 0x77


def tlv(tag: int, *contents: bytes) -> bytes:
    content = b"".join(contents)
    if len(content) < 0x80:
        return bytes((tag, len(content))) + content
    # As Active Directory writes lengths: always four octets.
    return bytes((tag, 0x84)) + len(content).to_bytes(4) + content


def message(message_id: int, operation: int, *contents: bytes) -> bytes:
    return tlv(0x30, tlv(0x02, message_id.to_bytes(2)), tlv(operation, *contents))


def result(message_id: int, operation: int, code: int = 0, diagnostic: bytes = b"") -> bytes:
    return message(message_id, operation, tlv(0x0A, bytes((code,))), tlv(0x04), tlv(0x04, diagnostic))


def entry(message_id: int, dn: str, **attributes: Sequence[bytes]) -> bytes:
    pairs = (
        tlv(0x30, tlv(0x04, name.encode()), tlv(0x31, *(tlv(0x04, value) for value in values)))
        for name, values in attributes.items()
    )
    return message(message_id, ENTRY, tlv(0x04, dn.encode()), tlv(0x30, *pairs))


@dataclass(eq=False)
class FakeServer:
    """`answers` returns the bytes that follow a search, whose id it gets; None is never answered."""

    answers: Callable[[int], bytes | None] = lambda message_id: result(message_id, DONE)
    binds: int = 0
    connections: int = 0
    is_silent: bool = False
    port: int = 0
    writers: set[asyncio.StreamWriter] = field(default_factory=set)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writers.add(writer)
        try:
            while not self.is_silent:
                await self._answer(reader, writer)
            await reader.read()
        except (OSError, EOFError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
            self.writers.discard(writer)
            self.ended.set()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readexactly(2)
        length = head[1]
        if length & 0x80:
            length = int.from_bytes(await reader.readexactly(length ^ 0x80))
        content = await reader.readexactly(length)
        size = content[1]
        message_id, operation = int.from_bytes(content[2 : 2 + size]), content[2 + size]
        if operation == _BIND_REQUEST:
            self.binds += 1
            writer.write(result(message_id, BIND_RESPONSE))
        elif operation == _SEARCH_REQUEST:
            writer.write(self.answers(message_id) or b"")
        elif operation == _EXTENDED_REQUEST:
            # What follows in the clear must not count as an answer through TLS.
            writer.write(result(message_id, EXTENDED_RESPONSE) + result(1, BIND_RESPONSE))
        await writer.drain()

    @property
    def url(self) -> str:
        return f"ldap://127.0.0.1:{self.port}"


@asynccontextmanager
async def fake_server(server: FakeServer) -> AsyncIterator[FakeServer]:
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        while server.writers:
            server.ended.clear()
            for writer in tuple(server.writers):
                writer.transport.abort()
            await server.ended.wait()
        await listening.wait_closed()
