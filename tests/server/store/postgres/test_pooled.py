"""A connection of the pool is lost while it is in use: whoever uses it is told that the database is away."""

from collections.abc import AsyncIterator, Awaitable, Callable

import asyncpg
import pytest

from server.platform.errors import Unavailable
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase


@pytest.fixture
async def pooled(dsn: str) -> AsyncIterator[PooledDatabase]:
    async with open_pool(dsn, 1) as pool:
        yield PooledDatabase(pool)


async def end(connection: asyncpg.Connection, dsn: str) -> None:
    """From the server's side."""
    process_id = await connection.fetchval("SELECT pg_backend_pid()")
    other = await asyncpg.connect(dsn)
    await other.execute(f"SELECT pg_terminate_backend({process_id})")
    await other.close()


async def lose_between_statements(pooled: PooledDatabase, dsn: str) -> None:
    async with pooled.connection() as connection:
        await end(connection, dsn)
        await connection.fetch("SELECT 1")


async def lose_in_a_transaction(pooled: PooledDatabase, dsn: str) -> None:
    async with pooled.connection() as connection, connection.transaction():
        await end(connection, dsn)
        await connection.fetch("SELECT 1")


@pytest.mark.parametrize("lose", [lose_between_statements, lose_in_a_transaction])
async def test_a_connection_that_is_lost_is_an_outage(
    pooled: PooledDatabase, dsn: str, lose: Callable[[PooledDatabase, str], Awaitable[None]]
) -> None:
    with pytest.raises(Unavailable):
        await lose(pooled, dsn)


async def test_the_next_one_gets_a_new_connection(pooled: PooledDatabase, dsn: str) -> None:
    with pytest.raises(Unavailable):
        await lose_between_statements(pooled, dsn)

    assert await pooled.fetch("SELECT 1")
