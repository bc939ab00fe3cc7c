"""The durable retry queue: tasks run until done, and faults and dead servers do not affect other tenants."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from identity.access.sessions.logout_config import LogoutConfig
from identity.delivery.retry_queue import QueuedTask, RetryQueue
from identity.foundation.randomness import SystemRandomness
from identity.foundation.tenants import Tenant
from server.platform.call import TenantId
from server.platform.clock import VirtualClock
from server.platform.errors import Unavailable
from server.platform.records import Kind
from server.platform.records.memory import MemoryRecords
from tests.identity.browsers import NOON
from tests.waits import ticks, until


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping(QueuedTask):
    pass


PINGS = Kind(Ping, "ping", scheduled="next_at", owners=())
HOUR = timedelta(hours=1)


class Queue(MemoryRecords[Ping]):
    """Counts the tasks that were read; `faults` are raised when a tenant's tasks are read, `is_away` refuses claims."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__(PINGS, clock)
        self.read = 0
        self.faults: dict[str, Exception] = {}
        self.is_away = False

    async def due(self, tenant_id: TenantId, now: datetime, *, most: int) -> Sequence[Ping]:
        if tenant_id in self.faults:
            raise self.faults[tenant_id]
        found = await super().due(tenant_id, now, most=most)
        self.read += len(found)
        return found

    async def replace(self, record: Ping) -> Ping:
        if self.is_away:
            raise Unavailable("the store is away")
        return await super().replace(record)


@dataclass
class Servers:
    """One server for each tenant: those in `hanging` never respond, those in `failing` refuse."""

    hanging: set[str] = field(default_factory=set)
    failing: set[str] = field(default_factory=set)
    stubborn: set[str] = field(default_factory=set)
    done: list[str] = field(default_factory=list)
    tried: list[str] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)
    at_a_time: int = 0
    most_at_a_time: int = 0

    async def handle(self, tenant: Tenant, _task: Ping) -> bool:
        self.tried.append(tenant.tenant_id)
        self.at_a_time += 1
        self.most_at_a_time = max(self.most_at_a_time, self.at_a_time)
        try:
            await ticks(1)
            if tenant.tenant_id in self.hanging:
                await asyncio.Event().wait()
        finally:
            self.at_a_time -= 1
        if tenant.tenant_id in self.failing:
            return False
        self.done.append(tenant.tenant_id)
        return True

    async def give_up(self, task: Ping) -> None:
        if task.tenant_id in self.stubborn:
            raise ValueError("a fault of the handler")
        self.given_up.append(task.tenant_id)


class World:
    """Tenants with these names, each with a server, and the queue of calls to them."""

    def __init__(self, *names: str, attempts: int = 3, most_at_a_time: int = 8) -> None:
        self.tenants = [Tenant(TenantId(name), f"https://{name}.example.com/auth/v1/") for name in names]
        self.clock = VirtualClock(pinned=NOON)
        self.queue = Queue(self.clock)
        self.servers = Servers()
        self.rounds = 0
        self._next_id = 0
        self.retries = RetryQueue(
            "ping",
            self.queue,
            self.servers,
            clock=self.clock,
            randomness=SystemRandomness(),
            policy=LogoutConfig(attempts=attempts, most_at_a_time=most_at_a_time),
        )

    async def enqueue(self, name: str, *, number: int = 1, wait: timedelta = timedelta()) -> None:
        for _ in range(number):
            self._next_id += 1
            task = Ping(
                tenant_id=TenantId(name), id=f"{self._next_id}", attempts=0, next_at=self.clock.now() + wait
            )
            await self.queue.insert(task)

    async def waiting(self, name: str) -> Sequence[Ping]:
        return await self.queue.page(TenantId(name))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as tasks:
            loop = tasks.create_task(self.retries.run(lambda: self.tenants, self._pause))
            yield
            loop.cancel()

    async def _pause(self, _seconds: float) -> None:
        self.rounds += 1
        await ticks(1)


async def later(world: World, rounds: int = 3) -> None:
    """Return when the queue has looked for tasks this number of times."""
    enough = world.rounds + rounds
    await until(lambda: world.rounds >= enough)


async def test_a_handler_that_cannot_give_up_ends_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    world = World("a", "b", attempts=1)
    world.servers.failing = world.servers.stubborn = {"a"}
    await world.enqueue("a")

    async with world.running():
        await until(lambda: world.servers.tried)
        await world.enqueue("b")
        await until(lambda: world.servers.done == ["b"])

    [record] = caplog.records
    assert record.exc_info is not None
    assert record.exc_info[0] is ValueError
    assert (record.__dict__["queue"], record.__dict__["tenant_id"]) == ("ping", "a")


async def test_a_tenant_whose_tasks_cannot_be_read_delays_no_other() -> None:
    world = World("a", "b")
    world.queue.faults["a"] = ValueError("no JSON")
    await world.enqueue("a")
    await world.enqueue("b")

    async with world.running():
        await until(lambda: world.servers.done == ["b"])


async def test_a_dead_server_delays_no_other_tenant() -> None:
    world = World("a", "b", most_at_a_time=8)
    world.servers.hanging = {"a"}
    await world.enqueue("a", number=100)

    async with world.running():
        await until(lambda: world.servers.tried)
        await later(world)
        await world.enqueue("b", number=20)
        await until(lambda: world.servers.done == ["b"] * 20)


async def test_many_dead_servers_delay_no_other_tenant() -> None:
    dead = [f"dead-{number}" for number in range(20)]
    world = World(*dead, "b", most_at_a_time=4)
    world.servers.failing = set(dead)
    for name in dead:
        await world.enqueue(name)

    async with world.running():
        await until(lambda: len(world.servers.tried) == len(dead))
        world.servers.hanging = set(dead)
        world.clock.advance(HOUR)
        await later(world)
        await world.enqueue("b", number=20)
        await until(lambda: world.servers.done == ["b"] * 20)


async def test_a_server_that_is_back_takes_its_share_again() -> None:
    world = World("a", most_at_a_time=8)
    world.servers.failing = {"a"}
    await world.enqueue("a", number=5)

    async with world.running():
        await until(lambda: len(world.servers.tried) == 5)
        world.servers.failing.clear()
        world.clock.advance(HOUR)
        await until(lambda: world.servers.done == ["a"] * 5)

    assert await world.waiting("a") == []


@pytest.mark.parametrize("most", [1, 2, 3, 8])
async def test_no_more_tasks_run_at_a_time_than_the_bound(most: int) -> None:
    names = [f"tenant-{number}" for number in range(10)]
    world = World(*names, most_at_a_time=most)
    world.servers.failing = {*names[:5]}
    for name in names:
        await world.enqueue(name, number=10)

    async with world.running():
        await until(lambda: len(world.servers.tried) == 100)
        world.clock.advance(HOUR)
        await until(lambda: len(world.servers.tried) == 150)

    assert world.servers.most_at_a_time <= most


async def test_tasks_that_wait_for_their_next_attempt_are_not_read() -> None:
    world = World("a")
    await world.enqueue("a", number=1_000, wait=HOUR)
    await world.enqueue("a")

    async with world.running():
        await until(lambda: world.servers.done == ["a"])
        await later(world)

    assert world.queue.read == 1


async def test_an_outage_of_the_store_is_waited_for() -> None:
    world = World("a", most_at_a_time=1)
    await world.enqueue("a", number=2)
    world.queue.is_away = True

    async with world.running():
        await later(world)
        untried = list(world.servers.tried)
        world.queue.is_away = False
        await until(lambda: world.servers.done == ["a", "a"])

    assert untried == []


async def test_attempts_that_failed_together_do_not_come_back_together() -> None:
    world = World("a", most_at_a_time=500)
    world.servers.failing = {"a"}
    await world.enqueue("a", number=200)

    await world.retries.run_due(world.tenants[0])

    waits = {(task.next_at - NOON).total_seconds() for task in await world.waiting("a")}
    assert len(waits) > 10
    assert min(waits) >= 60
    assert max(waits) <= 90
