"""Settings of the connections of a pool."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime

import asyncpg
import pytest

from server.platform.postgres.pool import open_pool
from tests.postgres import postgres_server

CONNECTIONS = 2


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres_server() as dsn:
        yield dsn


@pytest.fixture
async def pool(server: str) -> AsyncIterator[asyncpg.Pool]:
    async with open_pool(server, CONNECTIONS) as opened:
        yield opened


@pytest.mark.parametrize(
    ("setting", "expected"),
    [("application_name", "gnomon"), ("jit", "off"), ("TimeZone", "UTC"), ("statement_timeout", "30s")],
)
async def test_every_connection_has_the_settings(pool: asyncpg.Pool, setting: str, expected: str) -> None:
    assert expected == await pool.fetchval("SELECT current_setting($1)", setting)


async def test_date_times_come_in_utc_and_go_as_instants(pool: asyncpg.Pool) -> None:
    moment = datetime(2026, 1, 1, 12, tzinfo=UTC)

    found = await pool.fetchrow(
        "SELECT $1::timestamptz, $1 = '2026-01-01T13:00:00+01:00'::timestamptz", moment
    )

    assert (moment, True) == tuple(found)
    assert found[0].tzinfo is UTC


async def test_json_comes_and_goes_as_what_it_says(pool: asyncpg.Pool) -> None:
    headers = {"currency": "EUR", "quoted": '"é\\'}

    assert headers == await pool.fetchval("SELECT $1::jsonb", headers)


async def test_a_transaction_that_was_left_open_is_rolled_back(pool: asyncpg.Pool) -> None:
    await pool.execute("CREATE TABLE left_open (number integer)")
    transaction = "BEGIN; INSERT INTO left_open VALUES (1)"

    asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: None)
    await pool.execute(transaction)

    assert await pool.fetchval("SELECT count(*) FROM left_open") == 0


async def test_there_are_no_more_connections_than_wanted(pool: asyncpg.Pool) -> None:
    async with pool.acquire(), pool.acquire():
        with pytest.raises(TimeoutError):
            await pool.acquire(timeout=0.05)


async def test_an_address_without_a_server_is_told_at_once() -> None:
    with pytest.raises(OSError, match=r".+"):
        async with open_pool("postgresql://gnomon@127.0.0.1:1/gnomon", CONNECTIONS):
            pass


async def test_a_later_connection_asks_for_no_type_that_every_database_has(pool: asyncpg.Pool) -> None:
    asked = "SELECT $1::bigint[]"
    queries: list[str] = []
    async with pool.acquire() as first, pool.acquire() as later:
        assert await first.fetchval(asked, [1, 2]) == [1, 2]

        with later.query_logger(lambda query: queries.append(query.query)):
            assert await later.fetchval(asked, [3, None]) == [3, None]

    assert queries == [asked]


async def test_a_type_of_the_database_is_asked_for_by_every_connection(pool: asyncpg.Pool) -> None:
    asked = "SELECT $1::color[]"
    async with pool.acquire() as first, pool.acquire() as later:
        for connection, colors in ((first, ["red"]), (later, ["blue"])):
            await connection.execute(f"DROP TYPE IF EXISTS color; CREATE TYPE color AS ENUM ('{colors[0]}')")

            assert colors == await connection.fetchval(asked, colors)
