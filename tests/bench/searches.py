"""Every documented search in PostgreSQL over a million rows of each entity, nine of ten of one tenant.

A search is its page and the exact number of its matches, which is counted anew whenever something was committed since.
The deep page begins behind a cursor in the middle of the matches. Times are those of one caller, from the query as data
to the rows as entities.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from statistics import quantiles

import asyncpg
import uvloop
from rich.table import Table

from server.platform.postgres.pool import open_pool
from server.platform.query import Page, Query, Window
from server.platform.query.cursor import position_of
from server.store.entities import Entity
from server.store.postgres.reads import PostgresStore
from tests.postgres import postgres_server
from tests.server.store.postgres.documented import SEARCHES, Search
from tests.server.store.postgres.population import TENANT, populate

ROWS = 1_000_000
ROUNDS = 20
WARM_UP = 3
LIMIT = 100
GOAL_MILLISECONDS = 50.0
_COMMIT = "UPDATE gnomon.partition SET position = position + 1 WHERE partition_id = 1"


def table() -> Table:
    with postgres_server() as dsn:
        return uvloop.run(_populated(dsn))


async def _populated(dsn: str) -> Table:
    await populate(dsn, ROWS)
    return await measured(dsn)


async def measured(dsn: str) -> Table:
    """Search a database that is populated."""
    table = Table(title=f"Searches over {ROWS:,} rows of each entity, ms")
    for column in ("entity", "search"):
        table.add_column(column)
    counted = ("first, counted p50", "p95", "deep, counted p50", "p95")
    for column in ("matches", *counted, "nothing new p50", "p95", f"goal {GOAL_MILLISECONDS:g}"):
        table.add_column(column, justify="right")
    async with open_pool(dsn, 1) as pool:
        store = PostgresStore(pool)
        for search in SEARCHES:
            table.add_row(*await _row(pool, store, search))
    return table


async def _row(pool: asyncpg.Pool, store: PostgresStore, search: Search) -> Sequence[str]:
    first = replace(search.query, window=Window(LIMIT))
    matches = (await _page(store, search, first)).total
    deep = await _deep(store, search, matches)
    times = [
        await _times(pool, store, search, first),
        await _times(pool, store, search, deep),
        await _times(pool, store, search, deep, before="SELECT 1"),
    ]
    is_reached = max(slowest for _, slowest in times) <= GOAL_MILLISECONDS
    figures = [f"{figure:.1f}" for pair in times for figure in pair]
    name = search.searchable.entity.__name__
    return name, search.name, f"{matches:,}", *figures, "reached" if is_reached else "missed"


async def _deep(store: PostgresStore, search: Search, matches: int) -> Query:
    middle = replace(search.query, window=Window(1, offset=matches // 2))
    cursor = (await _page(store, search, middle)).end_cursor
    if cursor is None:
        return search.query
    position = position_of(cursor, search.query.conditions, search.query.sort)
    return replace(search.query, window=Window(LIMIT, after=position))


async def _page(store: PostgresStore, search: Search, query: Query) -> Page[Entity]:
    return await store.search(search.searchable.entity, query, tenant_id=TENANT)


async def _times(
    pool: asyncpg.Pool, store: PostgresStore, search: Search, query: Query, *, before: str = _COMMIT
) -> tuple[float, float]:
    """Median and 95th percentile in milliseconds, each time after a statement of its own."""
    times: list[float] = []
    for _ in range(WARM_UP + ROUNDS):
        await pool.execute(before)
        begun = time.perf_counter()
        await _page(store, search, query)
        times.append((time.perf_counter() - begun) * 1000)
    cuts = quantiles(times[WARM_UP:], n=20)
    return cuts[9], cuts[18]
