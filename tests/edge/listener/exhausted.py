"""A listener in a process without free descriptors; prints what clients see before, during and after."""

import asyncio
import os
import resource
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import uvloop

from tests.edge.harness import Edge, running
from tests.waits import ticks

LAST = b"GET /v2/status HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
# Until the server has closed its end too.
ROUNDS = 20


async def main() -> None:
    async with running("local") as edge:
        before = await _answer(_client(), edge)
        client = _client()
        await ticks(ROUNDS)
        with _no_free_descriptor():
            without = await _answer(client, edge)
        after = await _answer(_client(), edge)
    print(before, without, after)  # noqa: T201  # its output is its result


def _client() -> socket.socket:
    client = socket.socket()
    client.setblocking(False)
    return client


async def _answer(client: socket.socket, edge: Edge) -> str:
    loop = asyncio.get_running_loop()
    with client:
        await loop.sock_connect(client, ("127.0.0.1", edge.port))
        with suppress(ConnectionError):
            await loop.sock_sendall(client, LAST)
            answer = b""
            while received := await loop.sock_recv(client, 1000):
                answer += received
            return answer.split()[1].decode() if answer else "refused"
    return "refused"


@contextmanager
def _no_free_descriptor() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    taken = []
    with suppress(OSError):
        while True:
            taken.append(os.open(os.devnull, os.O_RDONLY))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in taken:
            os.close(descriptor)


if __name__ == "__main__":
    uvloop.run(main())
