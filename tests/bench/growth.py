"""The cost of a command while history grows: with ten thousand, a hundred thousand and a million rows of each entity there.

All of them lie in this week, to which what ends moves. 64 clients start process instances through gRPC, activate their
jobs and complete them; the cost is the server's whole CPU time, with moves to history and vacuum, by audited command.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from statistics import median
from urllib.parse import urlsplit

import asyncpg
import uvloop
from rich.table import Table

from server.platform.clock import SystemClock
from tests.bench.processes import server_seconds
from tests.bench.story_load import CALLERS
from tests.postgres import postgres_server
from tests.server.store.postgres.population import populate
from tests.server_process import DEMO_ACCESS, server_process

SIZES = (10_000, 100_000, 1_000_000)
SECONDS = 5
ROUNDS = 3
TENANT = "default"
# The rows have the first keys and the first positions.
_BEYOND = """
    DELETE FROM gnomon.partition WHERE partition_id > 1;
    UPDATE gnomon.partition SET position = 1 << 30, last_key = last_key + (1::bigint << 40)
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """`postgres` is in microseconds of CPU by command."""

    commands_per_second: float
    p99: float
    postgres: float


def table() -> Table:
    table = Table(
        title=f"Cost of a command by the size of history, {CALLERS} clients, median of {ROUNDS} runs"
    )
    for column in (
        "rows of each entity",
        "commands/s",
        "p99 ms",
        "PostgreSQL CPU µs/command",
        "to the smallest",
    ):
        table.add_column(column, justify="right")
    with postgres_server() as dsn:
        for size in SIZES:
            uvloop.run(_filled(dsn, size))
        rounds = [[_cost(_database(dsn, size)) for size in SIZES] for _ in range(ROUNDS)]
    costs = [_median(runs) for runs in zip(*rounds, strict=True)]
    for size, cost in zip(SIZES, costs, strict=True):
        table.add_row(
            f"{size:,}",
            f"{cost.commands_per_second:,.0f}",
            f"{cost.p99 * 1000:.1f}",
            f"{cost.postgres:.0f}",
            f"{cost.postgres / costs[0].postgres:.2f}",
        )
    return table


def _median(runs: Sequence[Cost]) -> Cost:
    return Cost(
        median(run.commands_per_second for run in runs),
        median(run.p99 for run in runs),
        median(run.postgres for run in runs),
    )


def _database(dsn: str, size: int) -> str:
    return urlsplit(dsn)._replace(path=f"/with_{size}").geturl()


async def _filled(server: str, size: int) -> None:
    connection = await asyncpg.connect(server)
    try:
        await connection.execute(f"CREATE DATABASE with_{size}")
    finally:
        await connection.close()
    dsn = _database(server, size)
    today = SystemClock().now().astimezone(UTC)
    await populate(dsn, size, begin=today - timedelta(days=today.weekday()), weeks=1)
    await _run(dsn, _BEYOND)


def _cost(dsn: str) -> Cost:
    environment = {**DEMO_ACCESS, "GNOMON_DATABASE__DSN": dsn, "GNOMON_CLUSTER__PARTITIONS": "1"}
    with server_process("--mode", "bundled", environment=environment) as addresses:
        commands, spent = uvloop.run(so_far(dsn))
        load = [sys.executable, "-m", "tests.bench.story_load", "tunnel", addresses.grpc, str(SECONDS), "0"]
        measured = json.loads(subprocess.run(load, capture_output=True, check=True).stdout)
        commands_after, spent_after = uvloop.run(so_far(dsn))
    cost = (spent_after - spent) / (commands_after - commands) * 1e6
    return Cost(measured["rate"], measured["p99"], cost)


async def so_far(dsn: str) -> tuple[int, float]:
    """Commands, and seconds of CPU that the server had for them."""
    connection = await asyncpg.connect(dsn)
    try:
        text = "SELECT count(*), pg_backend_pid() FROM gnomon.audit_entry WHERE tenant_id = $1"
        commands, process = await connection.fetchrow(text, TENANT)
        return commands, server_seconds(process)
    finally:
        await connection.close()


async def postgres_seconds(dsn: str) -> float:
    """CPU that the database server has had."""
    connection = await asyncpg.connect(dsn)
    try:
        return server_seconds(await connection.fetchval("SELECT pg_backend_pid()"))
    finally:
        await connection.close()


async def _run(dsn: str, text: str) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(text)
    finally:
        await connection.close()
