"""Stories that a partition and its ledger in PostgreSQL carry out."""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from datetime import UTC, datetime
from itertools import chain
from typing import Any, TypeVar

import asyncpg

from server.engine.commands import Command
from server.partition.audit import AUDITED, USER_TASK
from server.partition.batch_audit import batch_item_entries
from server.partition.config import InstancesConfig, JobsConfig, PartitionConfig, QuotaConfig
from server.partition.due import Due, DueCommand
from server.partition.durable import DurablePartitions
from server.partition.origin import Origin
from server.partition.partition import Partition
from server.partition.recovery import Recovered, recovered
from server.partition.user_task_audit import user_task_entries
from server.platform.clock import VirtualClock
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.store.entities import AuditEntry, AuditResult
from server.store.postgres import recovery
from server.store.postgres.leases import Lease
from server.store.postgres.reads import PostgresStore
from server.store.postgres.relations import RELATIONS
from server.store.postgres.rows import row_reader
from server.store.searchables import SEARCHABLES
from tests.durable import empty, taken
from tests.server.engine.served import MOST, ServedScenario
from tests.waits import PATIENCE_SECONDS, until, until_so

FOR_EVER = datetime(9999, 1, 1, tzinfo=UTC)

T = TypeVar("T")


class Stage:
    """Resources of all stories of a session: a loop, and connections to a database of their own."""

    def __init__(self, runner: asyncio.Runner, dsn: str, pool: asyncpg.Pool) -> None:
        self._runner = runner
        self._dsn = dsn
        self._pool = pool
        self.database = PooledDatabase(pool)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(asyncio.wait_for(work, PATIENCE_SECONDS))

    @contextmanager
    def scenario(self) -> Iterator["DurableScenario"]:
        """One that begins with an empty database."""
        self.run(empty(self._pool))
        clock = VirtualClock()
        playing = _Playing(self._partitions(clock), self._pool)
        self.run(playing.begin())
        try:
            yield DurableScenario(self, playing, clock)
        finally:
            self.run(playing.end())

    def _partitions(self, clock: VirtualClock) -> DurablePartitions:
        return DurablePartitions(
            dsn=self._dsn,
            database=self.database,
            background=self.database,
            store=PostgresStore(self._pool),
            clock=clock,
            partition=PartitionConfig(),
            jobs=JobsConfig(),
            # Stories go on while listeners are asked.
            instances=InstancesConfig(await_completion_seconds=0),
            quota=QuotaConfig(),
            sent=lambda _source, _targets: None,
        )


@contextmanager
def durable_stage(dsn: str) -> Iterator[Stage]:
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        opening: AbstractAsyncContextManager[asyncpg.Pool] = open_pool(dsn, 3)
        pool = runner.run(opening.__aenter__())
        yield Stage(runner, dsn, pool)
        runner.run(opening.__aexit__(None, None, None))


class _Playing:
    """A partition that runs from `begin` to `end`, between the commands of a story."""

    def __init__(self, partitions: DurablePartitions, pool: asyncpg.Pool) -> None:
        self._partitions = partitions
        self._pool = pool
        self._last_offer = 0
        self._partition: Partition | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def partition(self) -> Partition:
        assert self._partition is not None
        return self._partition

    async def begin(self) -> None:
        """Raises what keeps the partition from being opened."""
        self._task = task = asyncio.ensure_future(self._play(await taken(self._pool)))
        await until(lambda: task.done() or (self._partition and self._partition.is_open))
        if task.done():
            await task

    async def end(self) -> None:
        """Raises what ended the partition before."""
        assert self._task is not None
        self.partition.stop()
        await self._task

    async def kill(self) -> None:
        """End what runs wherever it is, and let the next owner recover what is committed."""
        assert self._task is not None
        self._task.cancel()
        await asyncio.wait((self._task,))
        await self._pool.execute("UPDATE gnomon.partition SET owner = NULL, expires_at = NULL")
        self._last_offer, self._partition = self.partition.state.last_offer, None
        await self.begin()

    async def _play(self, lease: Lease) -> None:
        async with self._partitions.open(lease) as local:
            # An owner counts offers from the latest that is left: numbers go on as without it, to be compared.
            local.partition.state.last_offer = max(local.partition.state.last_offer, self._last_offer)
            self._partition = local.partition
            await local.partition.run()


class DurableScenario(ServedScenario):
    def __init__(self, stage: Stage, playing: "_Playing", clock: VirtualClock) -> None:
        super().__init__(stage.run, playing.partition, clock)
        self._stage = stage
        self._playing = playing
        self._audited: Counter[str] = Counter()

    def kill(self) -> None:
        """The owner of the partition is gone in the middle of what it does; another one goes on."""
        self._stage.run(self._playing.kill())
        self.go_on_with(self._playing.partition)

    def settle(self) -> None:
        """Have everything happen that follows from the commands so far."""
        self._stage.run(self.partition.settle())

    def expect_laws(self) -> None:
        super().expect_laws()
        self._stage.run(self._expect_recovery())
        self._stage.run(self._expect_rows())

    def _origin(self, command: Command) -> Origin:
        if type(command) in AUDITED and AUDITED[type(command)].entity_type != USER_TASK:
            self._audited[AUDITED[type(command)].operation_type] += 1
        return super()._origin(command)

    async def _expect_recovery(self) -> None:
        """A new owner of the partition would recover the state that is here."""
        found = await self._recovered()
        assert found.state.last_offer <= self.state.last_offer
        found.state.last_offer = self.state.last_offer  # the jobs that had it are not on offer any more
        assert found.state == self.state
        assert _coming(found.due) == _coming(self.due)
        tenants = [instance.head.tenant_id for instance in self.state.instances.values()]
        assert found.active == Counter(tenants)
        text = "SELECT tenant_id, count FROM gnomon.active_instances WHERE count <> 0"
        assert dict(await self._stage.database.fetch(text)) == found.active

    async def _recovered(self) -> Recovered:
        database, partition_id = self._stage.database, self.partition.id
        text = "SELECT epoch, position, last_key FROM gnomon.partition WHERE partition_id = $1"
        (row,) = await database.fetch(text, partition_id)
        definitions = recovery.definitions(database)
        documents = recovery.documents(database, partition_id)
        return await recovered(Lease(partition_id, **row), definitions, documents, MOST)

    async def _expect_rows(self) -> None:
        """The database holds the rows that the projection makes without one, and an entry for each that was asked."""
        await until_so(self._has_deleted)
        for entity in SEARCHABLES.keys() - {AuditEntry}:
            key = SEARCHABLES[entity].key.name
            expected = {getattr(row, key): row for row in self.rows.all(entity)}
            assert {getattr(row, key): row for row in await self._rows(entity)} == expected
        entries: list[AuditEntry] = await self._rows(AuditEntry)
        entries_of_events = chain(
            user_task_entries(self.events, None, self.now), batch_item_entries(self.events, self.now)
        )
        changes = [entry for entry in entries_of_events if not _is_refused_user_task(entry)]
        audited = self._audited + Counter(change.operation_type for change in changes)
        found = Counter(entry.operation_type for entry in entries if not _is_refused_user_task(entry))
        assert found == audited

    async def _has_deleted(self) -> bool:
        noted = "SELECT FROM gnomon.history_deletion UNION ALL SELECT FROM gnomon.variable_erasure"
        return not await self._stage.database.fetch(noted)

    async def _rows(self, entity: type[Any]) -> list[Any]:
        relation = RELATIONS[entity]
        text = f"SELECT {', '.join(relation.columns)} FROM {relation.name}"  # noqa: S608  # names of ours
        return [row_reader(entity)(record) for record in await self._stage.database.fetch(text)]


def _is_refused_user_task(entry: AuditEntry) -> bool:
    return entry.entity_type == USER_TASK and entry.result is AuditResult.FAIL


def _coming(due: Due) -> list[DueCommand]:
    return sorted(due.take(FOR_EVER, MOST), key=_place)


def _place(command: DueCommand) -> tuple[int, str]:
    (key,) = command.address.keys
    return key, type(command).__name__
