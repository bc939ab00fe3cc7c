import asyncio
import threading
from collections.abc import Iterator

import pytest

from server.platform.errors import ResourceExhausted
from server.platform.threads import Threads
from tests.waits import ticks, until


class Gate:
    """Work that ends when it is let through."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()

    def wait(self) -> str:
        self.reached.set()
        self.opened.wait()
        return "through"


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.opened.set()


@pytest.fixture
def threads() -> Iterator[Threads]:
    threads = Threads("gates", 1, most_waiting=2)
    yield threads
    threads.close()


async def test_work_is_done_in_a_thread_of_that_name(threads: Threads) -> None:
    assert (await threads.run(lambda: threading.current_thread().name)).startswith("gates")


async def test_what_the_work_raises_is_raised(threads: Threads) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        await threads.run(int, "no number")


async def test_past_the_bound_work_is_refused_until_some_is_done(threads: Threads, gate: Gate) -> None:
    async with asyncio.TaskGroup() as tasks:
        through = [tasks.create_task(threads.run(gate.wait)) for _ in range(2)]
        await ticks(1)
        with pytest.raises(ResourceExhausted, match="2 gates wait already"):
            await threads.run(gate.wait)
        gate.opened.set()

    assert [task.result() for task in through] == ["through"] * 2
    assert await threads.run(gate.wait) == "through"


async def test_the_work_of_a_caller_that_is_gone_keeps_its_place(threads: Threads, gate: Gate) -> None:
    async with asyncio.TaskGroup() as tasks:
        gone = [tasks.create_task(threads.run(gate.wait)) for _ in range(2)]
        await until(gate.reached.is_set)
        for task in gone:
            task.cancel()

    with pytest.raises(ResourceExhausted):
        await threads.run(gate.wait)


async def test_closing_gives_up_what_waits(threads: Threads, gate: Gate) -> None:
    async with asyncio.TaskGroup() as tasks:
        first, second = [tasks.create_task(threads.run(gate.wait)) for _ in range(2)]
        await until(gate.reached.is_set)
        threads.close()
        await until(second.done)
        gate.opened.set()

    assert second.cancelled()
    assert first.result() == "through"
