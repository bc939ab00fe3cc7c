from collections.abc import AsyncIterator

import pytest

from tests.server.store.postgres.databases import new_database


@pytest.fixture
async def empty_dsn(postgres_dsn: str) -> AsyncIterator[str]:
    """A database without a schema."""
    async with new_database(postgres_dsn) as dsn:
        yield dsn
