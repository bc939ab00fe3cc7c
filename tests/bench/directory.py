"""Searches for users and clients in PostgreSQL over a million of each, and for what a tenant has a thousand of at most.

A search is its page and the exact number of its matches. The processor time is that of the database, for one caller.
Roles, groups, mapping rules and authorizations are read whole and searched by the program: its time is in the table.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from statistics import quantiles
from typing import Any

import asyncpg
import uvloop
from rich.table import Table

from identity.directory.labels import ROLES
from server.platform.clock import SystemClock
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.query import Query, Window
from server.platform.query.cursor import position_of
from server.platform.records.postgres import PostgresRecordStore
from tests.bench.processes import process
from tests.durable import migrated_database
from tests.identity.directory.searched import PAGE, SEARCHES, TENANT, WORDS, Search, fill
from tests.postgres import postgres_server

ROWS = 1_000_000
ROLES_OF_A_TENANT = 1000
ROUNDS = 20
_ROLES = f"""
    INSERT INTO identity.role (tenant_id, id, revision, content, name)
    SELECT 'tenant-' || n / {ROLES_OF_A_TENANT}, 'id' || n % {ROLES_OF_A_TENANT}, 1,
        json_build_object('tenant_id', 'tenant-' || n / {ROLES_OF_A_TENANT}, 'id', 'id' || n % {ROLES_OF_A_TENANT},
            'name', 'role-' || n % {ROLES_OF_A_TENANT}, 'permissions', '[]'::json),
        'role-' || n % {ROLES_OF_A_TENANT}
    FROM generate_series(0, $1::int - 1) AS n
"""  # noqa: S608  # our own


def table() -> Table:
    with postgres_server() as dsn:
        return uvloop.run(_table(dsn))


async def _table(server: str) -> Table:
    dsn = await migrated_database(server, "directory")
    async with open_pool(dsn, 1) as pool:
        await pool.execute("SET statement_timeout = 0")
        await fill(pool, ROWS)
        await pool.execute(_ROLES, ROWS, timeout=3600)
        return await measured(pool)


async def measured(pool: asyncpg.Pool) -> Table:
    table = Table(title=f"Searches over {ROWS:,} users and {ROWS:,} clients, ms")
    for column in ("search", "matches"):
        table.add_column(column)
    for column in ("first CPU", "p95", "deep CPU", "p95"):
        table.add_column(column, justify="right")
    store = PostgresRecordStore(PooledDatabase(pool), SystemClock())
    for search in SEARCHES:
        table.add_row(*await _row(pool, store.of(search.kind), search))
    for search in WORDS:
        records = store.of(search.kind)
        figures = await _times(pool, records.matches, search.query)
        table.add_row(f"{search.kind.name}: {search.name}", "", *figures)
    begun = time.process_time()
    roles = store.of(ROLES)
    for _ in range(ROUNDS):
        await roles.page(TENANT_OF_ROLES, most=ROLES_OF_A_TENANT)
    spent = (time.process_time() - begun) / ROUNDS * 1000
    table.add_row(
        f"role: all {ROLES_OF_A_TENANT} of a tenant, in the program", f"{ROLES_OF_A_TENANT:,}", f"{spent:.1f}"
    )
    return table


TENANT_OF_ROLES = "tenant-7"


async def _row(pool: asyncpg.Pool, records: Any, search: Search) -> Sequence[str]:
    first = replace(search.query, window=Window(PAGE))
    matches = (await records.search(TENANT, first)).total
    deep = first
    if matches > 2 * PAGE:
        middle = replace(search.query, window=Window(1, offset=matches // 2))
        cursor = (await records.search(TENANT, middle)).end_cursor
        deep = replace(first, window=Window(PAGE, after=position_of(cursor, first.clauses, first.sort)))
    figures = [*await _times(pool, records.search, first), *await _times(pool, records.search, deep)]
    return f"{search.kind.name}: {search.name}", f"{matches:,}", *figures


async def _times(pool: asyncpg.Pool, search: Any, query: Query) -> Sequence[str]:
    """Processor time on average, and the 95th percentile of the time until the answer."""
    connected = await pool.fetchval("SELECT pg_backend_pid()")
    for _ in range(2):
        await search(TENANT, query)
    times, before = [], _server_seconds(connected)
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        await search(TENANT, query)
        times.append((time.perf_counter() - begun) * 1000)
    spent = (_server_seconds(connected) - before) / ROUNDS * 1000
    return f"{spent:.1f}", f"{quantiles(times, n=20)[18]:.1f}"


def _server_seconds(connected: int) -> float:
    """CPU time of a connection's process and of all processes that helped one and are gone."""
    found = process(connected)
    return found.own + process(found.parent).gone
