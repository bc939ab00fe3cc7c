"""Every documented search in PostgreSQL over a million rows of each entity, nine of ten of one tenant.

A search is its page and the exact number of its matches, which is counted anew where something changed: before each
search something is committed, and something moves to the latest week of history. The deep page begins behind a cursor in
the middle of the matches; asked for again with nothing committed since, it needs no count. What nobody has searched for
yet is counted in all weeks. Times are those of one caller, from the query as data to the rows as entities.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from statistics import median, quantiles
from typing import NamedTuple

import asyncpg
import uvloop
from rich.table import Table

from server.platform.postgres.pool import open_pool
from server.platform.query import Page, Query, Window
from server.platform.query.cursor import position_of
from server.store.entities import Entity
from server.store.postgres.reads import PostgresStore
from tests.bench.processes import process
from tests.postgres import postgres_server
from tests.server.store.postgres.documented import SEARCHES, Search
from tests.server.store.postgres.population import TENANT, populate

ROWS = 1_000_000
ROUNDS = 20
WARM_UP = 3
LIMIT = 100
GOAL_MILLISECONDS = 50.0
UNKNOWN_ROUNDS = 5
# The effects of every commit, and of every move.
_COMMIT = """
    UPDATE gnomon.partition SET position = position + 1 WHERE partition_id = 1;
    UPDATE history.arrivals SET arrived = arrived + 1
    WHERE partition_id = 1 AND week = (SELECT max(week) FROM history.arrivals)
"""


class Times(NamedTuple):
    """In milliseconds; `cpu` is the server's, on average, and depends less on what else the machine does."""

    p50: float
    p95: float
    cpu: float


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
    figures = ("first p50", "p95", "CPU", "deep p50", "p95", "CPU", "again p50", "p95", "CPU")
    for column in ("matches", "unknown p50", *figures, f"goal {GOAL_MILLISECONDS:g}"):
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
    unknown = median([await _seconds(PostgresStore(pool), search, first) for _ in range(UNKNOWN_ROUNDS)])
    is_reached = max(found.p95 for found in times) <= GOAL_MILLISECONDS
    figures = [f"{figure:.1f}" for figure in (unknown * 1000, *chain.from_iterable(times))]
    name = search.searchable.entity.__name__
    return name, search.name, f"{matches:,}", *figures, "reached" if is_reached else "missed"


async def _deep(store: PostgresStore, search: Search, matches: int) -> Query:
    middle = replace(search.query, window=Window(1, offset=matches // 2))
    cursor = (await _page(store, search, middle)).end_cursor
    if cursor is None:
        return search.query
    position = position_of(cursor, search.query.clauses, search.query.sort)
    return replace(search.query, window=Window(LIMIT, after=position))


async def _page(store: PostgresStore, search: Search, query: Query) -> Page[Entity]:
    return await store.search(search.searchable.entity, query, tenant_id=TENANT)


async def _seconds(store: PostgresStore, search: Search, query: Query) -> float:
    begun = time.perf_counter()
    await _page(store, search, query)
    return time.perf_counter() - begun


async def _times(
    pool: asyncpg.Pool, store: PostgresStore, search: Search, query: Query, *, before: str = _COMMIT
) -> Times:
    """Each time after a statement of its own."""
    connected = await pool.fetchval("SELECT pg_backend_pid()")
    for _ in range(WARM_UP):
        await pool.execute(before)
        await _page(store, search, query)
    times: list[float] = []
    spent = _server_seconds(connected)
    for _ in range(ROUNDS):
        await pool.execute(before)
        times.append(await _seconds(store, search, query) * 1000)
    cuts = quantiles(times, n=20)
    return Times(cuts[9], cuts[18], (_server_seconds(connected) - spent) / ROUNDS * 1000)


def _server_seconds(connected: int) -> float:
    """CPU time of a connection's process and of all processes that helped one and are gone."""
    found = process(connected)
    return found.own + process(found.parent).gone
