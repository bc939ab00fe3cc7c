"""Stores in PostgreSQL for tests: one server for the session, emptied for each store."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files

import asyncpg

from server.engine.keys import Key
from server.platform.postgres.migrations import migrate
from server.platform.postgres.pool import open_pool
from server.store.ports import Batch, PartitionId
from server.store.postgres.leases import Lease
from server.store.postgres.ledger import PostgresLedger
from server.store.postgres.pooled import PooledDatabase
from server.store.postgres.reads import PostgresStore

# The keys of tests are small, and so of this partition.
PARTITION = PartitionId(0)
STATEMENT_SECONDS = 30.0


class DurableStore(PostgresStore):
    """Reads, and the commits of one partition."""

    def __init__(self, pool: asyncpg.Pool, ledger: PostgresLedger) -> None:
        super().__init__(pool)
        self._ledger = ledger

    async def commit(self, batch: Batch) -> None:
        await self._ledger.commit(batch)


@asynccontextmanager
async def durable_store(dsn: str) -> AsyncIterator[DurableStore]:
    """An empty store; of stores on one server only the latest may be used."""
    async with open_pool(dsn, 2) as pool:
        await _empty(pool)
        lease = Lease(PARTITION, epoch=1, position=0, last_key=Key(0))
        database = PooledDatabase(pool)
        async with PostgresLedger(
            dsn, lease, database=database, statement_seconds=STATEMENT_SECONDS
        ) as ledger:
            yield DurableStore(pool, ledger)


async def prepare(dsn: str) -> None:
    await migrate(dsn, files("server.store.postgres").joinpath("migrations"))


async def _empty(pool: asyncpg.Pool) -> None:
    tables = await pool.fetch("SELECT schemaname, tablename FROM pg_tables WHERE schemaname = 'runtime'")
    deletions = [f"DELETE FROM {schema}.{table}" for schema, table in tables]
    partition = """
        INSERT INTO gnomon.partition (partition_id, epoch, position, last_key) VALUES (0, 1, 0, 0)
        ON CONFLICT (partition_id) DO UPDATE SET epoch = 1, position = 0, last_key = 0
    """
    await pool.execute("; ".join([*deletions, partition]))
