"""Commits of a partition to PostgreSQL, beside single rows that are inserted one by one on the same server.

A third of the commands creates a process instance, a third activates its job, a third completes the job and with it the
process instance; each writes what the engine would have it write, with an audit entry and a kept answer. CPU time of
PostgreSQL is that of the connection's own process.
"""

import asyncio
import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

import asyncpg
import uvloop
from rich.table import Table

from server.engine.keys import Key, first_key
from server.platform.postgres.migrations import migrate
from server.store.entities import (
    AuditEntry,
    AuditResult,
    ElementInstance,
    ElementInstanceState,
    Job,
    JobState,
    ProcessInstance,
    ProcessInstanceState,
    Variable,
)
from server.store.ports import Batch, Insert, PartitionId, StoredAnswer, Update
from server.store.postgres.ledger import PostgresLedger
from server.store.postgres.leases import Leases
from tests.postgres import postgres_server

SIZES = (1, 16, 64, 128)
COMMANDS = 6_000
ROUNDS = 3
STATEMENT_SECONDS = 10.0
PARTITION = PartitionId(1)
DEFINITION = Key(first_key(PARTITION) + 1)
TENANT = "default"
START = datetime(2026, 1, 1, tzinfo=UTC)
TICK = timedelta(milliseconds=5)
KEYS_OF_AN_INSTANCE = 10
DOCUMENT = bytes(range(256)) * 2


@dataclass(frozen=True)
class Cost:
    """Of one command, on the average of a run: microseconds of CPU here and at the server."""

    commands_per_second: float
    milliseconds_per_commit: float
    python: float
    postgres: float


def table() -> Table:
    title = f"Commits to PostgreSQL, best of {ROUNDS}"
    table = Table(title=title)
    for column in ("commands a batch", "commands/s", "ms a commit", "Python µs", "PostgreSQL µs"):
        table.add_column(column, justify="right")
    with postgres_server() as dsn:
        for name, cost in uvloop.run(_costs(dsn)):
            table.add_row(
                name,
                f"{cost.commands_per_second:,.0f}",
                f"{cost.milliseconds_per_commit:.2f}",
                f"{cost.python:.1f}",
                f"{cost.postgres:.1f}",
            )
    return table


async def _costs(dsn: str) -> Sequence[tuple[str, Cost]]:
    await migrate(dsn, files("server.store.postgres").joinpath("migrations"))
    best: dict[str, Cost] = {}
    async with open_pool(dsn, 2) as pool:
        await pool.execute("CREATE TABLE single (key bigint PRIMARY KEY, content text NOT NULL)")
        await Leases(PooledDatabase(pool)).create_partitions(PARTITION)
        await History(PooledDatabase(pool)).ensure_buckets(START)
        for _ in range(ROUNDS):
            costs = {"a row, no batch": await _single_rows(pool)}
            costs |= {f"{size}": await _commits(dsn, pool, size=size) for size in SIZES}
            for name, cost in costs.items():
                best[name] = min(best.get(name, cost), cost, key=lambda cost: cost.milliseconds_per_commit)
    return list(best.items())


async def _single_rows(pool: asyncpg.Pool) -> Cost:
    async with pool.acquire() as connection:
        await connection.execute("TRUNCATE single")
        insert = await connection.prepare("INSERT INTO single VALUES ($1, $2)")

        async def commit(key: int) -> None:
            await insert.fetch(key, "x" * 150)

        return await _measured(range(2_000), commit, commands=1, backend=connection.get_server_pid())


async def _commits(dsn: str, pool: asyncpg.Pool, *, size: int) -> Cost:
    leases = Leases(PooledDatabase(pool))
    lease = await leases.take(PARTITION, "bench", address="", seconds=60.0)
    assert lease is not None
    batches = list(_batches(size, Key(lease.last_key + 1)))
    async with PostgresLedger(
        dsn, lease, database=PooledDatabase(pool), statement_seconds=STATEMENT_SECONDS
    ) as ledger:
        await ledger.commit(batches[0])
        text = "SELECT pid FROM pg_stat_activity WHERE application_name = $1"
        backend = await pool.fetchval(text, f"gnomon partition {PARTITION}")
        cost = await _measured(batches[1:], ledger.commit, commands=size, backend=backend)
    await leases.release(lease, "bench")
    return cost


T = TypeVar("T")


async def _measured(
    items: Sequence[T], commit: Callable[[T], Awaitable[None]], *, commands: int, backend: int
) -> Cost:
    """The first quarter warms up: statements are planned once in the life of a connection."""
    warm = len(items) // 4
    for item in items[:warm]:
        await commit(item)
    count = (len(items) - warm) * commands
    begun, python, postgres = time.perf_counter(), time.process_time(), _cpu_seconds(backend)
    for item in items[warm:]:
        await commit(item)
    seconds = time.perf_counter() - begun
    return Cost(
        commands_per_second=count / seconds,
        milliseconds_per_commit=seconds * 1e3 * commands / count,
        python=(time.process_time() - python) * 1e6 / count,
        postgres=(_cpu_seconds(backend) - postgres) * 1e6 / count,
    )


def _cpu_seconds(pid: int) -> float:
    """User and system time of a process of this machine (proc(5))."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _batches(size: int, first: Key) -> Iterator[Batch]:
    """Each process instance takes part in three batches, a full lap of commands apart."""
    lap = size
    commands: list[Callable[[Batch], None]] = []
    for turn in range(COMMANDS // 3):
        commands.append(partial(_create, turn, first))
        if turn >= lap:
            commands.append(partial(_activate, turn - lap, first))
        if turn >= 2 * lap:
            commands.append(partial(_complete, turn - 2 * lap, first))
    for begin in range(0, len(commands) - size + 1, size):
        batch = Batch()
        for command in commands[begin : begin + size]:
            command(batch)
        yield batch


def _create(number: int, first: Key, batch: Batch) -> None:
    key, now = _key(number, first), START + number * TICK
    head = {"tenant_id": TENANT, "process_definition_key": DEFINITION, "process_definition_id": "order"}
    batch.changes += [
        Insert(
            ProcessInstance(
                process_instance_key=key,
                process_definition_name="Order",
                process_definition_version=1,
                process_definition_version_tag=None,
                start_date=now,
                **head,
            )
        ),
    ]
