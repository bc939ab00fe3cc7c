import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from server.store.memory import MemoryStore
from tests.durable import migrated_database
from tests.server.engine.strategies import EXAMPLES
from tests.server.partition.durable import durable_backing
from tests.server.partition.harness import Backing, Serving


@asynccontextmanager
async def memory_backing() -> AsyncIterator[Backing]:
    yield MemoryStore(1_000)


@pytest.fixture(scope="session")
def in_memory() -> Serving:
    return Serving(memory_backing, EXAMPLES)


@pytest.fixture(scope="session")
def durable_dsn(postgres_dsn: str) -> str:
    return asyncio.run(migrated_database(postgres_dsn, "partition"))


@pytest.fixture(scope="session")
def in_postgres(durable_dsn: str) -> Serving:
    return Serving(durable_backing(durable_dsn), max(EXAMPLES // 5, 3))


@pytest.fixture(
    scope="session",
    params=[pytest.param("in_memory", id="embedded"), pytest.param("in_postgres", id="bundled")],
)
def serving(request: pytest.FixtureRequest) -> Serving:
    """Every test of the loop runs over a store in memory and over PostgreSQL."""
    found: Serving = request.getfixturevalue(request.param)
    return found
