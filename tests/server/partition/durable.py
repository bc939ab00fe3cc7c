"""The backing of a partition in PostgreSQL: the ledger of its lease, and reads."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

import asyncpg

from server.engine.keys import Key
from server.store.ports import Batch, IncomingCommand, PartitionId, StoredAnswer
from server.store.postgres.ledger import PostgresLedger
from server.store.postgres.pooled import PooledDatabase
from server.store.postgres.reads import PostgresStore
from tests.durable import emptied, taken
from tests.server.partition.harness import NewBacking

STATEMENT_SECONDS = 30.0


class DurableBacking(PostgresStore):
    def __init__(self, pool: asyncpg.Pool, ledger: PostgresLedger) -> None:
        super().__init__(pool)
        self._ledger = ledger

    async def commit(self, batch: Batch) -> None:
        await self._ledger.commit(batch)

    async def documents(self, keys: Collection[Key]) -> Mapping[Key, bytes]:
        return await self._ledger.documents(keys)

    async def answers(self, keys: Collection[tuple[str, str]]) -> Sequence[StoredAnswer]:
        return await self._ledger.answers(keys)

    async def incoming(self, after: Mapping[PartitionId, int], most: int) -> Sequence[IncomingCommand]:
        return await self._ledger.incoming(after, most)

    async def active_instances(self) -> Mapping[str, int]:
        return await self._ledger.active_instances()


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
