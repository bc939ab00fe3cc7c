"""How long a server may be silent, in virtual time."""

import asyncio
from typing import cast

import grpc
import pytest

from gnomon.tunnel.v1 import tunnel_service_pb2 as pb
from server.platform.channels.link import Link, Stream
from tests.server.platform.tunnel.harness import MEBIBYTE
from tests.virtual_time import in_virtual_time, stand_still

SILENCE = 2.5
PERIOD = SILENCE / 10


class Server:
    """Accepts the stream and answers each message after `seconds`, as long as it is not silent."""

    def __init__(self) -> None:
        self.seconds = 0.01
        self.is_silent = False
        self._accepted = asyncio.Event()
        self._arriving: asyncio.Queue[object] = asyncio.Queue()

    def accept(self) -> None:
        self._accepted.set()

    async def initial_metadata(self) -> None:
        await self._accepted.wait()

    async def wait_for_connection(self) -> None:
        await self._accepted.wait()

    async def write(self, request: pb.ExchangeRequest) -> None:
        if not self.is_silent:
            answers = [pb.Answer(id=call.id, response=b"done") for call in request.calls]
            self._send(pb.ExchangeResponse(answers=answers))

    def end(self) -> None:
        self._send(grpc.aio.EOF)

    async def read(self) -> object:
        return await self._arriving.get()

    def cancel(self) -> None:
        self._accepted.clear()

    def _send(self, response: object) -> None:
        asyncio.get_running_loop().call_later(self.seconds, self._arriving.put_nowait, response)


def link_to(server: Server) -> Link:
    return Link(cast("Stream", server), MEBIBYTE, SILENCE)


def test_a_server_that_is_silent_for_the_given_seconds_counts_as_gone() -> None:
    async def story() -> None:
        server = Server()
        server.is_silent = True
        begun = asyncio.get_running_loop().time()

        with pytest.raises(ExceptionGroup) as broken:
            await link_to(server).run()

        assert broken.group_contains(TimeoutError)
        assert asyncio.get_running_loop().time() - begun == pytest.approx(SILENCE)

    in_virtual_time(story())


def test_a_server_that_gives_signs_of_life_is_waited_for_without_end() -> None:
    async def story() -> None:
        server = Server()
        running = asyncio.ensure_future(link_to(server).run())

        await asyncio.sleep(100 * SILENCE)
        server.end()

        await running

    in_virtual_time(story())


@pytest.mark.parametrize("seconds", [PERIOD, SILENCE, 100 * SILENCE])
def test_a_process_that_stands_still_keeps_its_connections(seconds: float) -> None:
    async def story() -> None:
        server = Server()
        link = link_to(server)
        running = asyncio.ensure_future(link.run())
        await asyncio.sleep(SILENCE)

        for _ in range(20):
            call = asyncio.ensure_future(link.call("method", b"", None, None))
            await asyncio.sleep(0)
            stand_still(seconds)
            assert await call == b"done"
        server.end()

        await running

    in_virtual_time(story())


def test_after_a_standstill_a_silent_server_still_counts_as_gone() -> None:
    async def story() -> None:
        server = Server()
        running = asyncio.ensure_future(link_to(server).run())
        await asyncio.sleep(SILENCE)

        server.is_silent = True
        stand_still(10 * SILENCE)
        begun = asyncio.get_running_loop().time()

        with pytest.raises(ExceptionGroup) as broken:
            await running
        assert broken.group_contains(TimeoutError)
        assert asyncio.get_running_loop().time() - begun <= SILENCE + PERIOD

    in_virtual_time(story())


def test_a_standstill_does_not_count_while_a_server_accepts_the_stream() -> None:
    async def story() -> None:
        server = Server()
        opening = asyncio.ensure_future(link_to(server).open())
        await asyncio.sleep(PERIOD)

        stand_still(10 * SILENCE)
        await asyncio.sleep(PERIOD)
        server.accept()

        await opening

    in_virtual_time(story())


def test_a_server_that_does_not_accept_the_stream_counts_as_gone() -> None:
    async def story() -> None:
        begun = asyncio.get_running_loop().time()

        with pytest.raises(TimeoutError):
            await link_to(Server()).open()

        assert asyncio.get_running_loop().time() - begun == pytest.approx(SILENCE)

    in_virtual_time(story())
