import asyncio
from collections.abc import AsyncIterator, Iterator

import asyncpg
import pytest

from server.platform.postgres.migrations import migrate
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.store.postgres.leases import Lease, Leases
from tests.server.store.postgres.databases import name_of, new_database
from tests.server.store.postgres.ledgers import MIGRATIONS, PARTITIONS, taken


@pytest.fixture(scope="session")
def template(durable_dsn: str) -> Iterator[str]:
    """The name of a database with the schema and some partitions, to which nobody is connected."""
    with asyncio.Runner() as runner:
        made = new_database(durable_dsn)
        dsn = runner.run(made.__aenter__())
        runner.run(_prepare(dsn))
        yield name_of(dsn)
        runner.run(made.__aexit__(None, None, None))


@pytest.fixture(scope="session")
def shared_dsn(durable_dsn: str, template: str) -> Iterator[str]:
    """A database for examples that each begin an epoch of their own."""
    with asyncio.Runner() as runner:
        made = new_database(durable_dsn, template=template)
        yield runner.run(made.__aenter__())
        runner.run(made.__aexit__(None, None, None))


async def _prepare(dsn: str) -> None:
    await migrate(dsn, MIGRATIONS)
    async with open_pool(dsn, 1) as pool:
        await Leases(PooledDatabase(pool)).create_partitions(PARTITIONS)


@pytest.fixture
async def empty_dsn(durable_dsn: str) -> AsyncIterator[str]:
    """A database without a schema."""
    async with new_database(durable_dsn) as dsn:
        yield dsn


@pytest.fixture
async def dsn(durable_dsn: str, template: str) -> AsyncIterator[str]:
    """A database with the schema and some partitions that nobody has."""
    async with new_database(durable_dsn, template=template) as dsn:
        yield dsn


@pytest.fixture
async def pool(dsn: str) -> AsyncIterator[asyncpg.Pool]:
    async with open_pool(dsn, 4) as opened:
        yield opened


@pytest.fixture
def database(pool: asyncpg.Pool) -> PooledDatabase:
    return PooledDatabase(pool)


@pytest.fixture
async def lease(database: PooledDatabase) -> Lease:
    return await taken(database)
