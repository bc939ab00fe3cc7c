"""Leases are renewed in time whatever the process is busy with, and not for a process that does nothing."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime

import asyncpg
import pytest

from server.app import DurableEngine, durable_engine
from server.config import EngineConfig
from server.engine.keys import first_key
from server.partition.config import ClusterConfig
from server.partition.lease_renewal import LeaseRenewal
from server.platform.errors import Unavailable
from server.platform.loop_thread import LoopThread
from server.platform.postgres.config import DatabaseConfig
from server.platform.sockets import free_port
from server.store.ports import PartitionId
from server.store.postgres.leases import Lease, NodeFormats
from tests.durable import emptied
from tests.waits import PATIENCE_SECONDS, ticks, until, until_so

HOST = "127.0.0.1"
FIRST, SECOND = (
    Lease(PartitionId(number), epoch=7, position=0, last_key=first_key(number)) for number in (1, 2)
)
CONFIG = ClusterConfig(
    node_id="a",
    address="127.0.0.1:1",
    secret="secret",
    poll_seconds=0.01,
    lease_seconds=1.0,
    stall_seconds=10.0,
)
# Those that reads of rows share, of which leases need none.
ROW_CONNECTIONS = 10


@dataclass
class Table:
    """Rows of leases; those in `stolen` have another owner by now."""

    stolen: set[PartitionId] = field(default_factory=set)
    is_away: bool = False
    fault: Exception | None = None
    attempts: int = 0
    beats: int = 0
    announced: NodeFormats | None = None
    renewed: list[Mapping[PartitionId, int]] = field(default_factory=list)
    renewed_twice: threading.Event = field(default_factory=threading.Event)

    async def beat(self, node_id: str, address: str, *, seconds: float, formats: NodeFormats) -> None:
        self.attempts += 1
        if self.is_away:
            raise Unavailable("the database does not answer")
        if self.fault is not None:
            raise self.fault
        assert (node_id, address, seconds) == ("a", "127.0.0.1:1", 1.0)
        self.announced = formats
        self.beats += 1

    async def renew(
        self, node_id: str, epochs: Mapping[PartitionId, int], *, seconds: float
    ) -> frozenset[PartitionId]:
        assert (node_id, seconds) == ("a", 1.0)
        self.renewed.append(epochs)
        if len(self.renewed) == 2:
            self.renewed_twice.set()
        return frozenset(epochs.keys() - self.stolen)


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Holder:
    """A process with a renewal; `lost` are the leases of which it was told."""

    table: Table = field(default_factory=Table)
    clock: Clock = field(default_factory=Clock)
    lost: list[Lease] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.renewal = LeaseRenewal("a", "127.0.0.1:1", CONFIG, lost=self.lost.append, clock=self.clock)

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Holder"]:
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(self.renewal.run(self.table))
            yield self
            running.cancel()

    async def attempted(self) -> None:
        """Return when the table was asked once more, from the beginning."""
        enough = self.table.attempts + 2
        await until(lambda: self.table.attempts >= enough)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.__dict__["reason"] for record in caplog.records if record.levelno == logging.WARNING]


async def test_what_is_held_is_renewed_in_its_epoch() -> None:
    async with Holder().running() as holder:
        holder.renewal.hold(FIRST)
        holder.renewal.hold(SECOND)
        await holder.attempted()
        both = holder.table.renewed[-1]
        holder.renewal.let_go(FIRST)
        await holder.attempted()

    assert both == {1: 7, 2: 7}
    assert holder.table.renewed[-1] == {2: 7}
    assert holder.lost == []


async def test_a_process_without_leases_says_that_it_lives() -> None:
    async with Holder().running() as holder:
        await holder.attempted()

    assert holder.table.beats
    assert holder.table.renewed == []


async def test_a_lease_that_another_process_took_is_reported() -> None:
    async with Holder().running() as holder:
        holder.renewal.hold(FIRST)
        holder.renewal.hold(SECOND)
        holder.table.stolen.add(SECOND.partition_id)

        await until(lambda: holder.lost)

    assert set(holder.lost) == {SECOND}


async def test_an_outage_is_logged_once_and_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    async with Holder().running() as holder:
        holder.renewal.hold(FIRST)
        holder.table.is_away = True
        await holder.attempted()
        await holder.attempted()
        holder.table.is_away = False
        renewed = len(holder.table.renewed)
        await until(lambda: len(holder.table.renewed) > renewed)

    assert warnings(caplog) == ["the database does not answer"]
    assert holder.lost == []


async def test_a_fault_does_not_end_renewals() -> None:
    async with Holder().running() as holder:
        holder.renewal.hold(FIRST)
        holder.table.fault = ValueError("a fault of ours")
        await holder.attempted()
        holder.table.fault = None

        await until(lambda: holder.table.renewed)


async def test_a_process_that_stands_still_loses_its_leases_and_may_go_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with Holder().running() as holder:
        holder.renewal.hold(FIRST)
        holder.clock.now += CONFIG.stall_seconds
        await holder.attempted()

        holder.clock.now += 0.1
        await ticks(2)
        attempts = holder.table.attempts
        await until(lambda: caplog.records)
        stalled = warnings(caplog)
        meanwhile = holder.table.attempts

        holder.renewal.progress()
        await holder.attempted()

    assert stalled == ["the event loop has stood still for 10 s"]
    assert attempts == meanwhile


@pytest.mark.parametrize("seconds", [0.0, 0.9, 601.0])
def test_a_time_that_no_process_can_stand_still_is_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match="stall_seconds: expected twice poll_seconds to 600"):
        ClusterConfig(poll_seconds=0.5, stall_seconds=seconds)


async def test_a_busy_event_loop_delays_no_renewal() -> None:
    holder = Holder()
    holder.renewal.hold(FIRST)
    async with LoopThread("leases", lambda: holder.renewal.run(holder.table)):
        is_renewed = holder.table.renewed_twice.wait(PATIENCE_SECONDS)  # the loop of this test stands still

    assert is_renewed


# Over PostgreSQL


@asynccontextmanager
async def serving(dsn: str) -> AsyncIterator[DurableEngine]:
    """A process that owns both partitions of the database, with leases that last for a second."""
    async with emptied(dsn, partitions=2, connections=1):
        pass
    cluster = ClusterConfig(
        node_id="a", host=HOST, port=free_port(HOST), secret="s", poll_seconds=0.05, lease_seconds=1.0
    )
    database = DatabaseConfig(dsn=dsn, row_connections=ROW_CONNECTIONS)
    async with (
        durable_engine(EngineConfig(cluster=cluster, database=database)) as engine,
        asyncio.TaskGroup() as tasks,
    ):
        running = tasks.create_task(engine.run())
        await engine.ready()
        yield engine
        running.cancel()


async def expiries(connection: asyncpg.Connection) -> dict[int, datetime]:
    """When each lease ends, of those that are still in their first epoch."""
    rows = await connection.fetch("SELECT partition_id, expires_at FROM gnomon.partition WHERE epoch = 1")
    return dict(rows)


async def until_renewed(connection: asyncpg.Connection, *partitions: int) -> None:
    """Return when the leases of these were renewed twice from now on, without an interruption."""
    for _ in range(2):
        before = await expiries(connection)

        async def is_renewed(before: dict[int, datetime] = before) -> bool:
            now = await expiries(connection)
            return all(now[number] > before[number] for number in partitions)

        await until_so(is_renewed)


async def test_reads_that_hold_every_connection_delay_no_renewal(durable_dsn: str) -> None:
    connection = await asyncpg.connect(durable_dsn)
    async with serving(durable_dsn) as engine, asyncio.TaskGroup() as readers, connection.transaction():
        await connection.execute("LOCK TABLE runtime.process_instance IN ACCESS EXCLUSIVE MODE")
        reads = [
            readers.create_task(engine.router.await_completion(first_key(number % 2 + 1), "default", 60))
            for number in range(ROW_CONNECTIONS)
        ]
        await until_so(lambda: all_wait(connection))

        await until_renewed(connection, 1, 2)

        for read in reads:
            read.cancel()
    await connection.close()


async def all_wait(connection: asyncpg.Connection) -> bool:
    """Whether every connection of the pool waits for the lock."""
    text = (
        "SELECT count(*) FROM pg_locks WHERE relation = 'runtime.process_instance'::regclass AND NOT granted"
    )
    return await connection.fetchval(text) == ROW_CONNECTIONS


async def test_an_event_loop_that_stands_still_keeps_its_leases_for_a_while(durable_dsn: str) -> None:
    renewed = threading.Event()

    async def watch() -> None:
        connection = await asyncpg.connect(durable_dsn)
        await until_renewed(connection, 1, 2)
        renewed.set()
        await connection.close()

    async with serving(durable_dsn):
        watching = threading.Thread(target=asyncio.run, args=(watch(),))
        watching.start()

        watching.join()  # the loop of the engine stands still

    assert renewed.is_set()


async def test_a_commit_that_takes_long_delays_the_lease_of_no_other_partition(durable_dsn: str) -> None:
    connection = await asyncpg.connect(durable_dsn)
    async with serving(durable_dsn):
        committing = await asyncpg.connect(durable_dsn)
        async with committing.transaction():
            await committing.execute("UPDATE gnomon.partition SET position = position WHERE partition_id = 1")

            await until_renewed(connection, 2)

        await until_renewed(connection, 1, 2)
        await committing.close()
    await connection.close()
