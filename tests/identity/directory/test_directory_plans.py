"""Plans of the searches for users and clients, over enough rows that the plan matters."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import asyncpg
import pytest

from identity.directory.user import USERS
from identity.people.searches import UserSearch
from server.platform.clock import VirtualClock
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.query import Window
from server.platform.query.cursor import cursors
from server.platform.query.sql import Statement
from server.platform.records.postgres import PostgresRecordStore
from server.platform.records.search import Search as Statements
from server.platform.records.search import search_of
from tests.durable import migrated_database
from tests.identity.directory.searched import PAGE, SEARCHES, TENANT, WORDS, Search, fill

ROWS = 10_000
NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
# No index of PostgreSQL itself leads to the middle of a text.
WITHOUT_INDEX = {"of a part of an address"}
BY_INDEX = [each for each in (*SEARCHES, *WORDS) if not each.is_broad and each.name not in WITHOUT_INDEX]


@pytest.fixture(scope="module")
def dsn(postgres_dsn: str) -> str:
    return asyncio.run(_filled(postgres_dsn))


async def _filled(server: str) -> str:
    dsn = await migrated_database(server, "directory_plans")
    async with open_pool(dsn, 1) as pool:
        await fill(pool, ROWS)
    return dsn


@pytest.fixture
async def connection(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    opened = await asyncpg.connect(dsn)
    yield opened
    await opened.close()


def named(search: Search) -> str:
    return f"{search.kind.name}: {search.name}"


def statements(search: Search) -> Statements:
    query = replace(search.query, window=Window(PAGE))
    return search_of(search.kind, query, tenant_id=TENANT, now=NOON)


async def steps_of(connection: asyncpg.Connection, statement: Statement) -> list[Mapping[str, Any]]:
    (plan,) = await connection.fetchrow(
        f"EXPLAIN (ANALYZE, FORMAT JSON) {statement.text}", *statement.arguments
    )
    return list(nodes(json.loads(plan)[0]["Plan"]))


def nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def rows_read(steps: list[Mapping[str, Any]]) -> float:
    return max(
        step["Actual Rows"] * step["Actual Loops"] + step.get("Rows Removed by Filter", 0) for step in steps
    )


@pytest.mark.parametrize("search", BY_INDEX, ids=named)
async def test_a_search_for_few_reads_few(connection: asyncpg.Connection, search: Search) -> None:
    found = statements(search)

    for statement in (found.count, found.counted_page):
        steps = await steps_of(connection, statement)

        assert "Seq Scan" not in {step["Node Type"] for step in steps}
        assert rows_read(steps) <= 5 * PAGE


@pytest.mark.parametrize("search", [each for each in SEARCHES if each.is_broad], ids=named)
async def test_a_page_of_many_is_read_in_the_order_of_an_index(
    connection: asyncpg.Connection, search: Search
) -> None:
    assert rows_read(await steps_of(connection, statements(search).page)) <= 5 * PAGE


@pytest.mark.parametrize("sort", ["username", "name", "email"])
@pytest.mark.parametrize("is_descending", [False, True], ids=["ascending", "descending"])
async def test_a_page_of_words_that_most_users_have_reads_few(
    connection: asyncpg.Connection, sort: str, *, is_descending: bool
) -> None:
    search = UserSearch(text="l a", sort=sort, is_descending=is_descending)

    found = search_of(USERS, search.query(token="", most=PAGE), tenant_id=TENANT, now=NOON)

    assert found.first_page is not None
    assert rows_read(await steps_of(connection, found.first_page)) <= 5 * PAGE


# Nine of ten users have the first word, one in ten of these the second; the last user has the third.
@pytest.mark.parametrize("text", ["ada", "ada5", f"u{ROWS - 2}"])
@pytest.mark.parametrize("sort", ["email", "name"])
@pytest.mark.parametrize("is_descending", [False, True], ids=["ascending", "descending"])
async def test_the_pages_of_a_search_by_words_are_all_matches_in_order(
    dsn: str, text: str, sort: str, *, is_descending: bool
) -> None:
    search = UserSearch(text=text, sort=sort, is_descending=is_descending)
    async with open_pool(dsn, 1) as pool:
        users = PostgresRecordStore(PooledDatabase(pool), VirtualClock(pinned=NOON)).of(USERS)
        whole = await users.search(TENANT, replace(search.query(token="", most=1), window=Window(limit=None)))

        found, token = [], ""
        while token or not found:
            query = search.query(token=token, most=PAGE * 5)
            page = await users.matches(TENANT, query)
            found += page
            _, end = cursors(query, page)
            token = end if end is not None and len(page) == PAGE * 5 else ""

    assert [user.id for user in whole.items] == [user.id for user in found]


@pytest.mark.parametrize("search", [each for each in SEARCHES if each.name == "all"], ids=named)
async def test_all_are_counted_in_an_index_alone(connection: asyncpg.Connection, search: Search) -> None:
    steps = await steps_of(connection, statements(search).count)

    scans = [step for step in steps if "Relation Name" in step]
    assert [step["Node Type"] for step in scans] == ["Index Only Scan"]
    assert [step["Heap Fetches"] for step in scans] == [0]
