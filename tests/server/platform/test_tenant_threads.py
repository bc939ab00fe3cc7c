"""Tenants take turns at threads, and none has all of them."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from server.platform.errors import ResourceExhausted
from server.platform.tenant_threads import TenantThreads
from tests.waits import ticks, until

TWO, MOST, MOST_OF_ONE = 2, 4, 3


class Work:
    """Notes whose work has begun, and ends when it is let through."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.opened = threading.Event()

    def __call__(self, name: str) -> str:
        self.begun.append(name)
        self.opened.wait()
        return name


@pytest.fixture
def work() -> Iterator[Work]:
    work = Work()
    yield work
    work.opened.set()


@pytest.fixture
def threads() -> Iterator[TenantThreads]:
    threads = TenantThreads("gates", TWO, most_waiting=MOST, most_of_one=MOST_OF_ONE)
    yield threads
    threads.close()


async def test_a_tenant_leaves_a_thread_to_others(threads: TenantThreads, work: Work) -> None:
    async with asyncio.TaskGroup() as tasks:
        for name in ("a1", "a2"):
            tasks.create_task(threads.run("a", work, name))
        await until(lambda: work.begun)
        tasks.create_task(threads.run("b", work, "b1"))
        await until(lambda: len(work.begun) == TWO)
        begun = sorted(work.begun)
        work.opened.set()

    assert begun == ["a1", "b1"]
    assert sorted(work.begun) == ["a1", "a2", "b1"]


async def test_short_work_of_a_tenant_has_all_threads_until_another_waits(work: Work) -> None:
    threads = TenantThreads("gates", TWO, most_waiting=400, most_of_one=300, is_short=True)
    async with asyncio.TaskGroup() as tasks:
        for number in range(260):
            tasks.create_task(threads.run("a", work, f"a{number}"))
        await until(lambda: len(work.begun) == TWO)
        tasks.create_task(threads.run("b", work, "b"))
        await ticks(10)
        work.opened.set()
    threads.close()

    assert work.begun[:TWO] == ["a0", "a1"]
    assert work.begun.index("b") <= 2 * TWO


async def test_a_caller_that_waits_too_long_is_refused(work: Work) -> None:
    threads = TenantThreads("gates", 1, most_waiting=MOST, most_of_one=MOST_OF_ONE, longest_wait=0.0)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(threads.run("a", work, "a1"))
        await until(lambda: work.begun)

        with pytest.raises(ResourceExhausted) as refusal:
            await threads.run("a", work, "a2")
        work.opened.set()
    after = await threads.run("a", work, "a3")
    threads.close()

    assert refusal.value.metadata["retry_after_secs"] == "1"
    assert (running.result(), after, work.begun) == ("a1", "a3", ["a1", "a3"])


async def test_tenants_take_turns(work: Work) -> None:
    threads = TenantThreads("gates", 1, most_waiting=MOST, most_of_one=MOST_OF_ONE)
    async with asyncio.TaskGroup() as tasks:
        for name in ("a1", "a2", "a3", "b1"):
            tasks.create_task(threads.run(name[0], work, name))
        await until(lambda: work.begun)
        work.opened.set()

    assert work.begun == ["a1", "a2", "b1", "a3"]
    threads.close()


async def test_a_tenant_leaves_places_to_others(threads: TenantThreads, work: Work) -> None:
    async with asyncio.TaskGroup() as tasks:
        for _ in range(1 + MOST_OF_ONE):
            tasks.create_task(threads.run("a", work, "a"))
        await ticks(1)
        with pytest.raises(ResourceExhausted, match="3 gates of the tenant wait already"):
            await threads.run("a", work, "a")
        tasks.create_task(threads.run("b", work, "b"))
        await until(lambda: "b" in work.begun)
        work.opened.set()


async def test_past_the_bound_of_all_tenants_work_is_refused(threads: TenantThreads, work: Work) -> None:
    async with asyncio.TaskGroup() as tasks:
        for tenant_id in "abcdef":
            tasks.create_task(threads.run(tenant_id, work, tenant_id))
        await ticks(1)
        with pytest.raises(ResourceExhausted, match="4 gates wait already"):
            await threads.run("g", work, "g")
        work.opened.set()


async def test_a_caller_that_leaves_before_its_turn_frees_its_place(
    threads: TenantThreads, work: Work
) -> None:
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(threads.run("a", work, "a1"))
        await until(lambda: work.begun)
        gone = [tasks.create_task(threads.run("a", work, "gone")) for _ in range(MOST_OF_ONE)]
        await ticks(1)
        for task in gone:
            task.cancel()
        await until(lambda: all(task.done() for task in gone))
        last = tasks.create_task(threads.run("a", work, "a2"))
        work.opened.set()

    assert last.result() == "a2"
    assert work.begun == ["a1", "a2"]


async def test_the_thread_of_a_caller_that_left_is_free_when_its_work_is_done(
    threads: TenantThreads, work: Work
) -> None:
    gone = asyncio.ensure_future(threads.run("a", work, "gone"))
    await until(lambda: work.begun)
    gone.cancel()
    following = asyncio.ensure_future(threads.run("a", work, "a2"))
    await ticks(10)
    begun = list(work.begun)

    work.opened.set()

    assert await following == "a2"
    assert begun == ["gone"]


async def test_what_the_work_raises_is_raised(threads: TenantThreads) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        await threads.run("a", int, "no number")
    assert await threads.run("a", int, "1") == 1
