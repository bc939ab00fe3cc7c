"""Calls that come while the stream is busy."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import cast

import grpc
import pytest

from gnomon.tunnel.v1 import tunnel_service_pb2 as pb
from server.platform.channels.link import Link, Stream
from server.platform.errors import Unavailable
from tests.server.platform.tunnel.harness import MEBIBYTE, SECONDS, until


class Calls:
    """Makes calls over a link, and leaves none behind."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._tasks: list[asyncio.Task[bytes]] = []

    def make(self, method: str) -> asyncio.Task[bytes]:
        task = asyncio.ensure_future(self._link.call(method, b"", (), None))
        self._tasks.append(task)
        return task

    async def end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class BusyStream:
    """Takes a message when it is let; answers nothing until it ends."""

    def __init__(self) -> None:
        self.writing: list[pb.ExchangeRequest] = []
        self.ended = asyncio.Event()
        self.fault: Exception | None = None
        self._free = asyncio.Semaphore(0)

    def take(self) -> None:
        self._free.release()

    async def write(self, request: pb.ExchangeRequest) -> None:
        self.writing.append(request)
        await self._free.acquire()

    async def read(self) -> object:
        await self.ended.wait()
        if self.fault is not None:
            raise self.fault
        return grpc.aio.EOF

    def cancel(self) -> None:
        self.ended.set()


@pytest.fixture
def stream() -> BusyStream:
    return BusyStream()


@pytest.fixture
async def calls(stream: BusyStream) -> AsyncIterator[Calls]:
    link = Link(cast("Stream", stream), MEBIBYTE, SECONDS)
    calls = Calls(link)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(link.run())
        yield calls
        await calls.end()
        running.cancel()


async def taken_back(task: asyncio.Task[bytes]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_calls_that_wait_while_the_stream_is_busy_go_together(stream: BusyStream, calls: Calls) -> None:
    calls.make("first")
    await until(lambda: stream.writing)
    for method in ("second", "third"):
        calls.make(method)
    await asyncio.sleep(0)

    stream.take()
    await until(lambda: len(stream.writing) == 2)

    assert [each.method for each in stream.writing[1].calls] == ["second", "third"]


async def test_a_call_that_is_taken_back_before_its_turn_is_not_sent(
    stream: BusyStream, calls: Calls
) -> None:
    calls.make("first")
    await until(lambda: stream.writing)
    hasty = calls.make("hasty")
    calls.make("last")
    await asyncio.sleep(0)

    await taken_back(hasty)
    stream.take()
    await until(lambda: len(stream.writing) == 2)

    assert [each.method for each in stream.writing[1].calls] == ["last"]


async def test_a_call_that_is_taken_back_later_is_cancelled_by_its_id(
    stream: BusyStream, calls: Calls
) -> None:
    sent = calls.make("sent")
    await until(lambda: stream.writing)

    await taken_back(sent)
    stream.take()
    await until(lambda: len(stream.writing) == 2)

    (first,) = stream.writing[0].calls
    assert list(stream.writing[1].cancellations) == [first.id]


async def test_a_server_that_ends_the_stream_carried_out_no_call_that_it_left_unanswered(
    stream: BusyStream, calls: Calls
) -> None:
    waiting = calls.make("first")
    await until(lambda: stream.writing)

    stream.ended.set()

    with pytest.raises(Unavailable) as refusal:
        await waiting
    assert refusal.value.is_untouched


async def test_a_stream_that_breaks_may_have_carried_the_calls_that_were_sent(stream: BusyStream) -> None:
    link = Link(cast("Stream", stream), MEBIBYTE, SECONDS)
    calls = Calls(link)
    running = asyncio.ensure_future(link.run())
    sent = calls.make("sent")
    await until(lambda: stream.writing)
    unsent = calls.make("unsent")
    await asyncio.sleep(0)

    stream.fault = TimeoutError()
    stream.ended.set()

    with pytest.raises(ExceptionGroup):
        await running
    outcomes = await asyncio.gather(sent, unsent, return_exceptions=True)
    assert [isinstance(each, Unavailable) and each.is_untouched for each in outcomes] == [False, True]
