from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from server.store.memory import MemoryStore
from server.store.ports import Store

NewStore = Callable[[], AbstractAsyncContextManager[Store]]


@asynccontextmanager
async def memory_store() -> AsyncIterator[Store]:
    yield MemoryStore(max_finished_instances=1000)


@pytest.fixture(scope="session", params=[pytest.param(memory_store, id="memory")])
def new_store(request: pytest.FixtureRequest) -> NewStore:
    factory: NewStore = request.param
    return factory


@pytest.fixture
async def store(new_store: NewStore) -> AsyncIterator[Store]:
    async with new_store() as opened:
        yield opened
