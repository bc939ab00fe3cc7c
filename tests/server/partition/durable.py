"""Partitions in PostgreSQL: the backing of one, which is the ledger of its lease and reads, and whole ones."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

import asyncpg

from server.engine.documents import Pages
from server.engine.pages import DocumentId
from server.partition.config import InstancesConfig, JobsConfig, PartitionConfig, QuotaConfig
from server.partition.durable import DurablePartitions
from server.partition.local import LocalPartition
from server.platform.clock import VirtualClock
from server.platform.postgres.pooled import PooledDatabase
from server.store.ports import Batch, IncomingCommand, PartitionId, Reservation, StoredAnswer
from server.store.postgres.leases import Leases
from server.store.postgres.ledger import PostgresLedger
from server.store.postgres.reads import PostgresStore
from tests.durable import EPOCH, NODE, emptied, taken
from tests.server.partition.harness import NewBacking

STATEMENT_SECONDS = 30.0


class DurableBacking(PostgresStore):
    def __init__(self, pool: asyncpg.Pool, ledger: PostgresLedger) -> None:
        super().__init__(pool)
        self._ledger = ledger

    async def commit(self, batch: Batch) -> None:
        await self._ledger.commit(batch)

    async def documents(self, ids: Collection[DocumentId]) -> Mapping[DocumentId, Pages]:
        return await self._ledger.documents(ids)

    async def answers(self, keys: Collection[tuple[str, str]]) -> Sequence[StoredAnswer]:
        return await self._ledger.answers(keys)

    async def incoming(self, after: Mapping[PartitionId, int], most: int) -> Sequence[IncomingCommand]:
        return await self._ledger.incoming(after, most)

    async def reserve(self, wanted: Mapping[str, int], most: int) -> Reservation:
        return await self._ledger.reserve(wanted, most)


@asynccontextmanager
async def _opened(dsn: str) -> AsyncIterator[DurableBacking]:
    async with emptied(dsn) as pool:
        lease = await taken(pool)
        database = PooledDatabase(pool)
        async with PostgresLedger(
            dsn, lease, database=database, statement_seconds=STATEMENT_SECONDS
        ) as ledger:
            yield DurableBacking(pool, ledger)


def durable_backing(dsn: str) -> NewBacking:
    """Each is partition 1 of a database that was emptied for it."""
    return partial(_opened, dsn)


class Deployment:
    """Partitions that are opened one by one, as processes would: each recovers and serves while its block runs.

    `sent` are pairs of a partition and one to which it reported commands.
    """

    def __init__(
        self, dsn: str, pool: asyncpg.Pool, *, clock: VirtualClock, config: PartitionConfig, quota: int
    ) -> None:
        self.pool = pool
        self.clock = clock
        self.sent: list[tuple[PartitionId, PartitionId]] = []
        self._leases = Leases(PooledDatabase(pool))
        self._partitions = DurablePartitions(
            dsn=dsn,
            database=PooledDatabase(pool),
            background=PooledDatabase(pool),
            store=PostgresStore(pool),
            clock=clock,
            partition=config,
            jobs=JobsConfig(),
            instances=InstancesConfig(),
            quota=QuotaConfig(max_active_instances=quota),
            sent=self._note,
        )

    def _note(self, source: PartitionId, targets: Collection[PartitionId]) -> None:
        self.sent += [(source, target) for target in targets]

    async def add_partitions(self, count: int) -> None:
        """Until there are so many."""
        await self._leases.create_partitions(count)

    @asynccontextmanager
    async def open(self, partition_id: int = 1) -> AsyncIterator[LocalPartition]:
        lease = await taken(self.pool, partition_id)
        async with self._partitions.open(lease) as local, asyncio.TaskGroup() as tasks:
            tasks.create_task(local.partition.run())
            await local.partition.opened()
            yield local
            local.partition.stop()
        await self._leases.release(lease, NODE)


@asynccontextmanager
async def deployment(
    dsn: str, partitions: int = 1, config: PartitionConfig | None = None, *, quota: int = 3
) -> AsyncIterator[Deployment]:
    async with emptied(dsn, partitions=partitions, connections=4) as pool:
        clock = VirtualClock(pinned=EPOCH)
        yield Deployment(dsn, pool, clock=clock, config=config or PartitionConfig(), quota=quota)
