"""Stories that a partition and its ledger in PostgreSQL carry out."""

import asyncio
import logging
from collections import Counter
from collections.abc import Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Self, TypeVar

import asyncpg

from server.engine.answers import Answer
from server.engine.commands import Command
from server.engine.events import Event
from server.engine.rejection import Rejected, RejectionType
from server.partition.audit import AUDITED
from server.partition.config import InstancesConfig, JobsConfig, PartitionConfig, QuotaConfig
from server.partition.due import Due, DueCommand
from server.partition.durable import DurablePartitions
from server.partition.origin import Origin
from server.partition.partition import Partition
from server.partition.recovery import Recovered, recovered
from server.platform.clock import VirtualClock
from server.platform.errors import Internal, InvalidArgument, InvalidState, NotFound, ServiceError
from server.platform.postgres.pool import open_pool
from server.store.entities import AuditEntry, Entity
from server.store.postgres import recovery
from server.store.postgres.leases import Lease
from server.store.postgres.pooled import PooledDatabase
from server.store.postgres.reads import PostgresStore
from server.store.postgres.relations import RELATIONS
from server.store.postgres.rows import row_reader
from server.store.searchables import SEARCHABLES
from tests.durable import empty, taken
from tests.server.engine.scenario import Scenario
from tests.waiting import PATIENCE_SECONDS, until

FOR_EVER = datetime(9999, 1, 1, tzinfo=UTC)
MOST = 100_000
REFUSALS: dict[type[ServiceError], RejectionType] = {
    InvalidArgument: RejectionType.INVALID_ARGUMENT,
    NotFound: RejectionType.NOT_FOUND,
    InvalidState: RejectionType.INVALID_STATE,
}

T = TypeVar("T")


class Stage:
    """What all stories of a session share: a loop, and connections to a database of theirs."""

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
        lease = self.run(taken(self._pool))
        clock = VirtualClock()
        playing = _Playing(self._partitions(clock), lease)
        self.run(playing.begin())
        try:
            yield DurableScenario(self, playing, clock)
        finally:
            self.run(playing.end())

    def _partitions(self, clock: VirtualClock) -> DurablePartitions:
        return DurablePartitions(
            dsn=self._dsn,
            database=self.database,
            store=PostgresStore(self._pool),
            clock=clock,
            partition=PartitionConfig(),
            jobs=JobsConfig(),
            instances=InstancesConfig(),
            quota=QuotaConfig(),
        )


@contextmanager
def durable_stage(dsn: str) -> Iterator[Stage]:
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        opening: AbstractContextManager[asyncpg.Pool] = open_pool(dsn, 3)
        pool = runner.run(opening.__aenter__())
        yield Stage(runner, dsn, pool)
        runner.run(opening.__aexit__(None, None, None))


class _Playing:
    """A partition that runs from `begin` to `end`, between the commands of a story."""

    def __init__(self, partitions: DurablePartitions, lease: Lease) -> None:
        self.lease = lease
        self._partitions = partitions
        self._partition: Partition | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def partition(self) -> Partition:
        assert self._partition is not None
        return self._partition

    async def begin(self) -> None:
        """Raises what keeps the partition from being opened."""
        self._task = task = asyncio.ensure_future(self._play())
        await until(lambda: task.done() or (self._partition and self._partition.is_open))
        if task.done():
            await task

    async def end(self) -> None:
        """Raises what ended the partition before."""
        assert self._task is not None
        self.partition.stop()
        await self._task

    async def _play(self) -> None:
        async with self._partitions.open(self.lease) as local:
            self._partition = local.partition
            await local.partition.run()


class DurableScenario(Scenario):
    """`state` is the partition's own; every command has been committed when it is answered."""

    def __init__(self, stage: Stage, playing: _Playing, clock: VirtualClock) -> None:
        super().__init__()
        self._stage = stage
        self._playing = playing
        self._clock = clock
        self._faults = _Faults()
        self._audited: Counter[str] = Counter()
        self.state = self._partition.state
        clock.pin(self.now)
        self._partition.observers.append(self._observe)

    @property
    def _partition(self) -> Partition:
        return self._playing.partition

    def execute(self, command: Command) -> Answer:
        self.last_events = []
        with self._faults:
            try:
                return self._stage.run(self._partition.submit(command, self._origin(command)))
            except Internal:
                raise self._faults.last from None
            except tuple(REFUSALS) as refusal:
                raise Rejected(REFUSALS[type(refusal)], refusal.detail) from refusal

    def advance(self, by: timedelta) -> Self:
        self.now += by
        self._clock.pin(self.now)
        list(self.due.take(self.now, MOST))  # the partition brings them by itself
        self._stage.run(self._settled())
        return self

    def expect_laws(self) -> None:
        super().expect_laws()
        self._stage.run(self._expect_recovery())
        self._stage.run(self._expect_rows())

    def _origin(self, command: Command) -> Origin:
        if type(command) in AUDITED:
            self._audited[AUDITED[type(command)].operation_type] += 1
        return Origin(getattr(command, "tenant_id", ""), actor_id="story", request_id="r")

    def _observe(self, happened: list[Event]) -> None:
        self.last_events = happened
        self.happens(happened)

    async def _settled(self) -> None:
        self._partition.clock_moved()
        await self._partition.settle()

    async def _expect_recovery(self) -> None:
        """What a new owner would begin with is what is here."""
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
        database, partition_id = self._stage.database, self._partition.id
        text = "SELECT epoch, position, last_key FROM gnomon.partition WHERE partition_id = $1"
        (row,) = await database.fetch(text, partition_id)
        definitions = [content for _, content in await recovery.definitions(database)]
        documents = recovery.documents(database, partition_id)
        return await recovered(Lease(partition_id, **row), definitions, documents, MOST)

    async def _expect_rows(self) -> None:
        """The database holds the rows that the projection makes without one, and an entry for each that was asked."""
        for entity in SEARCHABLES.keys() - {AuditEntry}:
            key = SEARCHABLES[entity].key.name
            expected = {getattr(row, key): row for row in self.rows.all(entity)}
            assert {getattr(row, key): row for row in await self._rows(entity)} == expected
        entries = await self._rows(AuditEntry)
        assert Counter(entry.operation_type for entry in entries) == self._audited

    async def _rows(self, entity: type[Any]) -> list[Entity]:
        relation = RELATIONS[entity]
        text = f"SELECT {', '.join(relation.columns)} FROM {relation.name}"  # noqa: S608  # names of ours
        return [row_reader(entity)(record) for record in await self._stage.database.fetch(text)]


def _coming(due: Due) -> list[DueCommand]:
    return sorted(due.take(FOR_EVER, MOST), key=_place)


def _place(command: DueCommand) -> tuple[int, str]:
    return command.job_key, type(command).__name__


class _Faults(logging.Handler):
    """Faults that the log tells of while the block runs; callers are told nothing."""

    last: BaseException = AssertionError("no fault was logged")
    _logger = logging.getLogger("server.partition.turn")

    def __enter__(self) -> None:
        self._logger.addHandler(self)

    def __exit__(self, *_: object) -> None:
        self._logger.removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1] is not None:
            self.last = record.exc_info[1]
