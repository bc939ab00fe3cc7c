import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from server.platform.clock import VirtualClock
from server.platform.postgres.pool import open_pool
from server.platform.records import Records, RecordStore
from server.platform.records.memory import MemoryRecordStore
from tests.durable import new_database
from tests.server.platform.records import things
from tests.server.platform.records.things import THINGS, Thing


@pytest.fixture(scope="session")
def things_dsn(postgres_dsn: str) -> str:
    """A database with the table of things."""
    dsn = asyncio.run(new_database(postgres_dsn, "things"))
    things.run_ready(dsn)
    return dsn


@pytest.fixture
def clock() -> VirtualClock:
    return things.clock()


@pytest.fixture
async def pool(things_dsn: str) -> AsyncIterator[asyncpg.Pool]:
    async with open_pool(things_dsn, 10) as opened, things.emptied(opened):
        yield opened


@pytest.fixture(params=["memory", "postgres"])
def store(request: pytest.FixtureRequest, clock: VirtualClock) -> RecordStore:
    if request.param == "memory":
        return MemoryRecordStore(clock)
    return things.postgres_store(request.getfixturevalue("pool"), clock)


@pytest.fixture
def records(store: RecordStore) -> Records[Thing]:
    return store.of(THINGS)
