import asyncio
from collections.abc import AsyncIterator

import pytest

from server.platform.clock import VirtualClock
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records.postgres import PostgresRecordStore
from tests.durable import emptied, migrated_database
from tests.identity.deployment import NOON, Deployment, deployed


@pytest.fixture(scope="session")
def dsn(postgres_dsn: str) -> str:
    return asyncio.run(migrated_database(postgres_dsn, "personal_data"))


@pytest.fixture(params=["memory", "postgresql"])
def database(request: pytest.FixtureRequest) -> str | None:
    """The DSN of a database for the records, None when they are in memory."""
    return None if request.param == "memory" else request.getfixturevalue("dsn")


@pytest.fixture
async def provider(database: str | None) -> AsyncIterator[Deployment]:
    if database is None:
        async with deployed() as running:
            yield running
        return
    async with emptied(database) as pool:
        store = PostgresRecordStore(PooledDatabase(pool), VirtualClock(pinned=NOON))
        async with deployed(store=store) as running:
            yield running
