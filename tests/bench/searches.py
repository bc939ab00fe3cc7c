"""Every documented search in PostgreSQL over a million rows of each entity, nine of ten of one tenant.

A search is its page and the exact number of its matches. The deep page begins behind a cursor in the middle of the
matches. Times are those of one caller, from the query as data to the rows as entities.
"""

import time
from collections.abc import Sequence
from statistics import quantiles

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


def table() -> Table:
    with postgres_server() as dsn:
        return uvloop.run(_table(dsn, ROWS))


async def _table(dsn: str, rows: int) -> Table:
    await populate(dsn, rows)
    return await measured(dsn)


async def measured(dsn: str) -> Table:
    """Search a database that is populated."""
    table = Table(title=f"Searches over {ROWS:,} rows of each entity, ms")
    for column in (
        "entity",
        "search",
        "matches",
        "first p50",
        "p95",
        "deep p50",
        "p95",
        f"goal {GOAL_MILLISECONDS:g}",
    ):
        table.add_column(column, justify="left" if column in {"entity", "search"} else "right")
    async with open_pool(dsn, 1) as pool:
        store = PostgresStore(pool)
        for search in SEARCHES:
            table.add_row(*await _row(store, search))
    return table


async def _row(store: PostgresStore, search: Search) -> Sequence[str]:
    first = Query(search.query.conditions, search.query.sort, Window(LIMIT))
    page = await _page(store, search, first)
    middle = Query(first.conditions, first.sort, Window(1, offset=page.total // 2))
    cursor = (await _page(store, search, middle)).end_cursor
    deep = (
        first
        if cursor is None
        else Query(
            first.conditions,
            first.sort,
            Window(LIMIT, after=position_of(cursor, first.conditions, first.sort)),
        )
    )
    times = [await _times(store, search, query) for query in (first, deep)]
    is_reached = max(slowest for _, slowest in times) <= GOAL_MILLISECONDS
    figures = [f"{figure:.1f}" for pair in times for figure in pair]
    return (
        search.searchable.entity.__name__,
        search.name,
        f"{page.total:,}",
        *figures,
        "reached" if is_reached else "missed",
    )


async def _page(store: PostgresStore, search: Search, query: Query) -> Page[Entity]:
    return await store.search(search.searchable.entity, query, tenant_id=TENANT)


async def _times(store: PostgresStore, search: Search, query: Query) -> tuple[float, float]:
    """Median and 95th percentile in milliseconds."""
    times: list[float] = []
    for _ in range(WARM_UP + ROUNDS):
        begun = time.perf_counter()
        await _page(store, search, query)
        times.append((time.perf_counter() - begun) * 1000)
    cuts = quantiles(times[WARM_UP:], n=20)
    return cuts[9], cuts[18]
