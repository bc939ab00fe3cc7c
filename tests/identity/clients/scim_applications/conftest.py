"""The world over both record stores."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from server.platform.clock import VirtualClock
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records.memory import MemoryRecordStore
from server.platform.records.postgres import PostgresRecordStore
from tests.durable import migrated_database
from tests.identity.browsers import NOON
from tests.identity.clients.scim_applications.world import TABLES, World


@pytest.fixture(scope="session")
def dsn(postgres_dsn: str) -> str:
    return asyncio.run(migrated_database(postgres_dsn, "scim_applications"))


@pytest.fixture(params=["memory", "postgres"])
def database(request: pytest.FixtureRequest) -> str | None:
    """The DSN of a database for the records, None when they are in memory."""
    return None if request.param == "memory" else request.getfixturevalue("dsn")


@pytest.fixture
async def world(database: str | None) -> AsyncIterator[World]:
    clock = VirtualClock(pinned=NOON)
    if database is None:
        yield World(MemoryRecordStore(clock), clock)
        return
    async with open_pool(database, 2) as pool:
        await pool.execute(f'TRUNCATE {TABLES}, identity."user", identity."group"')
        yield World(PostgresRecordStore(PooledDatabase(pool), clock), clock)
