import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial

import pytest

from server.store.memory import MemoryStore
from server.store.ports import Store
from tests.postgres import postgres_server, turn_fsync_off
from tests.server.store.durable import durable_store, prepare

NewStore = Callable[[], AbstractAsyncContextManager[Store]]


@asynccontextmanager
async def memory_store() -> AsyncIterator[Store]:
    yield MemoryStore(max_finished_instances=1000)


@pytest.fixture(scope="session")
def durable_dsn() -> Iterator[str]:
    """A database with the schema of the durable modes."""
    with postgres_server() as dsn:
        asyncio.run(turn_fsync_off(dsn))
        asyncio.run(prepare(dsn))
        yield dsn


@pytest.fixture(scope="session")
def in_memory() -> NewStore:
    return memory_store


@pytest.fixture(scope="session")
def in_postgres(durable_dsn: str) -> NewStore:
    return partial(durable_store, durable_dsn)


@pytest.fixture(
    scope="session",
    params=[pytest.param("in_memory", id="memory"), pytest.param("in_postgres", id="postgres")],
)
def new_store(request: pytest.FixtureRequest) -> NewStore:
    factory: NewStore = request.getfixturevalue(request.param)
    return factory


@pytest.fixture
async def store(new_store: NewStore) -> AsyncIterator[Store]:
    async with new_store() as opened:
        yield opened
