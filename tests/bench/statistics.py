"""The statistics of the API in PostgreSQL over a million rows of each entity, nine of ten of one tenant.

Times are those of one caller, from the statistic as data to its groups.
"""

import time
from collections.abc import Sequence
from statistics import median, quantiles

import uvloop
from rich.table import Table

from server.platform.postgres.pool import open_pool
from server.store.postgres.reads import PostgresStore
from tests.bench.searches import GOAL_MILLISECONDS, ROWS
from tests.postgres import postgres_server
from tests.server.store.postgres.counted import COUNTED, Counted
from tests.server.store.postgres.population import TENANT, populate

ROUNDS = 20


def table() -> Table:
    with postgres_server() as dsn:
        return uvloop.run(_populated(dsn))


async def _populated(dsn: str) -> Table:
    await populate(dsn, ROWS)
    return await measured(dsn)


async def measured(dsn: str) -> Table:
    """Count in a database that is populated."""
    table = Table(title=f"Statistics over {ROWS:,} rows of each entity, ms")
    table.add_column("statistic")
    for column in ("groups", "p50", "p95", f"goal {GOAL_MILLISECONDS:g}"):
        table.add_column(column, justify="right")
    async with open_pool(dsn, 1) as pool:
        store = PostgresStore(pool)
        for counted in COUNTED:
            table.add_row(*await _row(store, counted))
    return table


async def _row(store: PostgresStore, counted: Counted) -> Sequence[str]:
    times, found = [], 0
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        groups = await store.statistics(counted.statistic, counted.clauses, tenant_id=TENANT)
        times.append((time.perf_counter() - begun) * 1000)
        found = len(groups)
    p95 = quantiles(times, n=20)[-1]
    outcome = "reached" if p95 <= GOAL_MILLISECONDS else "missed"
    return counted.name, f"{found:,}", f"{median(times):.1f}", f"{p95:.1f}", outcome
