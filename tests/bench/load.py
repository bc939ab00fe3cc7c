"""A plain HTTP/1.1 load: many keep-alive connections, each sending its next request when the last was answered.

Run as a process of its own: reads a request count, then length-prefixed requests, from standard input; prints the
requests per second and how often each status came.
"""

import asyncio
import json
import struct
import sys
import time
from collections import Counter, deque
from typing import cast

import uvloop

CONNECTIONS = 64
PATIENCE_SECONDS = 60
LENGTH = struct.Struct(">I")


class Connection(asyncio.Protocol):
    """Answers are told apart by content-length; a 204 has none."""

    def __init__(self, requests: deque[bytes], statuses: Counter[str], done: asyncio.Future[None]) -> None:
        self._requests, self._statuses, self._done = requests, statuses, done
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._send()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, separator, body = self._buffer.partition(b"\r\n\r\n")
        if not separator or len(body) < (length := _content_length(head)):
            return
        self._buffer = body[length:]
        self._statuses[head[9:12].decode()] += 1
        self._send()

    def connection_lost(self, error: Exception | None) -> None:
        if not self._done.done():
            self._done.set_exception(error or ConnectionError("the server closed a connection"))

    def _send(self) -> None:
        if self._requests:
            self._transport.write(self._requests.popleft())
        elif not self._done.done():
            self._done.set_result(None)
            self._transport.close()


def _content_length(head: bytes) -> int:
    lower = head.lower()
    start = lower.find(b"content-length:")
    return 0 if start < 0 else int(lower[start + 15 :].split(b"\r\n", 1)[0])


async def run(host: str, port: int, requests: deque[bytes]) -> tuple[float, Counter[str]]:
    loop = asyncio.get_running_loop()
    count, statuses = len(requests), Counter[str]()
    finished = [loop.create_future() for _ in range(CONNECTIONS)]
    begun = time.perf_counter()
    for done in finished:
        await loop.create_connection(lambda done=done: Connection(requests, statuses, done), host, port)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await asyncio.gather(*finished)
    return count / (time.perf_counter() - begun), statuses


def _read(count: int) -> deque[bytes]:
    stream = sys.stdin.buffer
    return deque(stream.read(LENGTH.unpack(stream.read(LENGTH.size))[0]) for _ in range(count))


def main() -> None:
    host, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rate, statuses = uvloop.run(run(host, port, _read(count)))
    print(json.dumps({"rate": rate, "statuses": statuses}))  # noqa: T201  # its output is its result


if __name__ == "__main__":
    main()
