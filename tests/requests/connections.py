"""HTTP/1.1 over a socket, as little as a campaign needs: one request, one answer, some ten thousand in a second."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

ANSWER_SECONDS = 60.0
LARGEST_LINE = 1 << 20
WITHOUT_BODY = frozenset({204, 304})


class NoAnswer(Exception):
    """The server closed the connection, or answered with something else than HTTP."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Names of headers are in lower case. A server that `closes` sends nothing more on the connection."""

    status: int
    closes: bool
    headers: Mapping[str, str]
    body: bytes

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class Connection:
    """Opened when it is needed, and again when the server closed it."""

    def __init__(self, host: str, port: int) -> None:
        self._address = host, port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    async def answer(self, request: bytes) -> Answer:
        """Raises NoAnswer, also after a minute."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                answer = await self._exchange(request)
        except (OSError, EOFError, ValueError, TimeoutError) as error:
            self.close()
            raise NoAnswer(repr(error)) from error
        if answer.closes:
            self.close()
        return answer

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def _exchange(self, request: bytes) -> Answer:
        if self._streams is None:
            self._streams = await asyncio.open_connection(*self._address, limit=LARGEST_LINE)
        reader, writer = self._streams
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip().split("\r\n")
        status = int(first.split(" ", 2)[1])
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = b"" if status in WITHOUT_BODY else await _body(reader, headers)
        closes = first.startswith("HTTP/1.0 ") or headers.get("connection", "").lower() == "close"
        return Answer(status, closes, headers, body)


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if "chunked" not in headers.get("transfer-encoding", ""):
        return await reader.readexactly(int(headers.get("content-length", "0")))
    parts = []
    while size := int((await reader.readline()).split(b";")[0], 16):
        parts.append((await reader.readexactly(size + 2))[:-2])
    await reader.readline()
    return b"".join(parts)
