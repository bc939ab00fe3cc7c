"""Stores in PostgreSQL for tests: one server for the session, emptied for each store."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import date
from importlib.resources import files

import asyncpg

from server.engine.keys import Key, partition_of
from server.platform.postgres.migrations import migrate
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.store.entities import AuditEntry, Entity
from server.store.ports import Batch, PartitionId
from server.store.postgres.buckets import create_buckets
from server.store.postgres.columns import BUCKETED, TABLES
from server.store.postgres.leases import Lease
from server.store.postgres.ledger import PostgresLedger
from server.store.postgres.reads import PostgresStore

# The keys of tests are small, and so of this partition.
PARTITION = PartitionId(0)
STATEMENT_SECONDS = 30.0
DAY = date(2026, 1, 1)
_SCHEMAS = ("runtime", "history")


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
        await empty(pool)
        lease = Lease(PARTITION, epoch=1, position=0, last_key=Key(0))
        database = PooledDatabase(pool)
        async with PostgresLedger(
            dsn, lease, database=database, statement_seconds=STATEMENT_SECONDS
        ) as ledger:
            yield DurableStore(pool, ledger)


async def prepare(dsn: str) -> None:
    """Bring a database to the schema, with a bucket for the history of tests."""
    await migrate(dsn, files("server.store.postgres").joinpath("migrations"))
    async with open_pool(dsn, 1) as pool:
        await create_buckets(PooledDatabase(pool), [DAY])


async def empty(pool: asyncpg.Pool) -> None:
    """Forget all rows and commits."""
    deletions = [
        f"DELETE FROM {schema}.{table.name}"  # noqa: S608  # our own
        for entity, table in TABLES.items()
        for schema in schemas_of(entity)
    ]
    partition = """
        INSERT INTO gnomon.partition (partition_id, epoch, position, last_key) VALUES (0, 1, 0, 0)
        ON CONFLICT (partition_id) DO UPDATE SET epoch = 1, position = 0, last_key = 0
    """
    await pool.execute("; ".join([*deletions, partition]))


async def write(pool: asyncpg.Pool, rows: Iterable[Entity]) -> None:
    """Put rows past any ledger where reads see them: those of odd keys into history, unless they are active."""
    for row in rows:
        table = TABLES[type(row)]
        key = table.key_of(row)
        schemas = schemas_of(type(row)) if getattr(row, "state", "") != "ACTIVE" else ("runtime",)
        schema = schemas[key % len(schemas)]
        values = {"partition_id": partition_of(key), **dict(zip(table.places, table.cells(row), strict=True))}
        if schema == "history":
            values["bucket"] = DAY
        places = ", ".join(f"${number}" for number in range(1, len(values) + 1))
        text = f"INSERT INTO {schema}.{table.name} ({', '.join(values)}) VALUES ({places})"  # noqa: S608  # our own
        await pool.execute(text, *values.values())


def schemas_of(entity: type[Entity]) -> tuple[str, ...]:
    """Where rows of an entity lie."""
    if entity is AuditEntry:
        return ("history",)
    return _SCHEMAS if entity in BUCKETED else ("runtime",)
