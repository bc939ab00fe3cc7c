"""The database of the durable modes for tests: it has the schema, and is emptied for each test that asks for it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from urllib.parse import urlsplit

import asyncpg

from server.platform.clock import SystemClock
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.storage import prepare
from server.store.ports import PartitionId
from server.store.postgres.buckets import create_buckets
from server.store.postgres.leases import Lease, Leases

NODE = "test"
LEASE_SECONDS = 600
# Where the clocks of tests stand.
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)

# Those that ever had a row: a few dozen of two hundred.
_TABLES = """
    SELECT nspname, relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname IN ('gnomon', 'runtime', 'history', 'identity')
        AND relkind = 'r' AND pg_relation_size(pg_class.oid) > 0
"""


async def new_database(server: str, name: str) -> str:
    """The DSN of a database of this name with nothing in it; no other one of the server may have the name.

    Tests of a module may run with others between them, so a fixture that calls this lives as long as the server.
    """
    connection = await asyncpg.connect(server)
    try:
        await connection.execute(f"CREATE DATABASE {name} STRATEGY FILE_COPY")
    finally:
        await connection.close()
    return urlsplit(server)._replace(path=f"/{name}").geturl()


async def migrated_database(server: str, name: str) -> str:
    """One with the schema, and with room for the history of tests."""
    dsn = await new_database(server, name)
    await prepare(dsn, 1)
    async with open_pool(dsn, 1) as pool:
        await create_buckets(PooledDatabase(pool), _days())
    return dsn


def _days() -> tuple[date, ...]:
    return EPOCH.date(), SystemClock().now().date()


@asynccontextmanager
async def emptied(dsn: str, *, partitions: int = 1, connections: int = 2) -> AsyncIterator[asyncpg.Pool]:
    """Connections to a database with so many partitions that nobody has, and with nothing else in it."""
    async with open_pool(dsn, connections) as pool:
        await empty(pool, partitions)
        yield pool


async def empty(pool: asyncpg.Pool, partitions: int = 1) -> None:
    """Forget everything but so many partitions."""
    tables = await pool.fetch(_TABLES)
    await pool.execute("; ".join(f"DELETE FROM {schema}.{table}" for schema, table in tables))  # noqa: S608  # names of ours
    await Leases(PooledDatabase(pool)).create_partitions(partitions)


async def taken(pool: asyncpg.Pool, partition_id: int = 1) -> Lease:
    """The lease of a partition that nobody has."""
    leases = Leases(PooledDatabase(pool))
    lease = await leases.take(PartitionId(partition_id), NODE, address="", seconds=LEASE_SECONDS)
    assert lease is not None, f"somebody has partition {partition_id}"
    return lease
