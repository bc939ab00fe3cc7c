"""Commits of a partition to PostgreSQL, beside single rows that are inserted one by one on the same server.

The batches are what the engine makes of commands: a third creates process instances, a third activates their jobs, a
third completes these, and each is audited and has its answer kept. CPU time of PostgreSQL is that of the connection's
own process; statements are planned before the clock starts, as they are once in the life of a connection.
"""

import hashlib
import os
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

import asyncpg
import uvloop
from rich.table import Table

from server.engine import State
from server.engine.answers import ActivatedJobs
from server.engine.commands import Command
from server.engine.deployment_commands import DeployResources, Resource
from server.engine.job_commands import ActivateJobs, CompleteJob
from server.engine.keys import Key
from server.engine.process_instance_commands import CreateProcessInstance
from server.partition.config import QuotaConfig
from server.partition.idempotency import IdempotencyKey
from server.partition.origin import Origin
from server.partition.quota import Quota
from server.partition.turn import Entry, Turn, Turns
from server.platform.postgres.migrations import migrate
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.store.ports import Batch, PartitionId
from server.store.postgres.history import History
from server.store.postgres.leases import Leases
from server.store.postgres.ledger import PostgresLedger
from tests.bench.models import MODELS, VARIABLES, ours
from tests.postgres import postgres_server

SIZES = (1, 16, 64, 128)
COMMANDS = 6_000
SINGLE_ROWS = 2_000
ROUNDS = 3
MODEL = "one service task"
PARTITION = PartitionId(1)
TENANT = "default"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
TICK = timedelta(milliseconds=5)

T = TypeVar("T")


@dataclass(frozen=True)
class Cost:
    """On the average of a run; microseconds of CPU of one command, here and at the server."""

    commands_per_second: float
    milliseconds_per_commit: float
    python: float
    postgres: float


def table() -> Table:
    table = Table(title=f"Commits to PostgreSQL, best of {ROUNDS} runs")
    for column in ("commands a commit", "commands/s", "ms a commit", "CPU µs/command: Python", "PostgreSQL"):
        table.add_column(column, justify="right")
    with postgres_server() as dsn:
        for name, cost in uvloop.run(_costs(dsn)).items():
            table.add_row(
                name,
                f"{cost.commands_per_second:,.0f}",
                f"{cost.milliseconds_per_commit:.2f}",
                f"{cost.python:.1f}",
                f"{cost.postgres:.1f}",
            )
    return table


async def _costs(dsn: str) -> dict[str, Cost]:
    await migrate(dsn, files("server.store.postgres").joinpath("migrations"))
    best: dict[str, Cost] = {}
    async with open_pool(dsn, 2) as pool:
        await pool.execute("CREATE TABLE single (key bigint PRIMARY KEY, content text NOT NULL)")
        await Leases(PooledDatabase(pool)).create_partitions(PARTITION)
        await History(PooledDatabase(pool)).ensure_buckets(NOW)
        for _ in range(ROUNDS):
            costs = {"1 row": await _single_rows(pool)}
            costs |= {f"{size}": await _commits(dsn, pool, size=size) for size in SIZES}
            for name, cost in costs.items():
                best[name] = min(best.get(name, cost), cost, key=lambda cost: cost.milliseconds_per_commit)
    return best


async def _single_rows(pool: asyncpg.Pool) -> Cost:
    async with pool.acquire() as connection:
        await connection.execute("TRUNCATE single")
        insert = await connection.prepare("INSERT INTO single VALUES ($1, $2)")

        async def commit(key: int) -> None:
            await insert.fetch(key, "x" * 150)

        return await _measured(range(SINGLE_ROWS), commit, commands=1, backend=connection.get_server_pid())


async def _commits(dsn: str, pool: asyncpg.Pool, *, size: int) -> Cost:
    database = PooledDatabase(pool)
    lease = await Leases(database).take(PARTITION, "bench", address="", seconds=60.0)
    assert lease is not None
    batches = list(_batches(size, lease.last_key))
    async with PostgresLedger(dsn, lease, database=database, statement_seconds=10.0) as ledger:
        await ledger.commit(batches[0])
        text = "SELECT pid FROM pg_stat_activity WHERE application_name = $1"
        backend = await pool.fetchval(text, f"gnomon partition {PARTITION}")
        cost = await _measured(batches[1:], ledger.commit, commands=size, backend=backend)
    await Leases(database).release(lease, "bench")
    return cost


async def _measured(
    items: Sequence[T], commit: Callable[[T], Awaitable[None]], *, commands: int, backend: int
) -> Cost:
    """Of the last three quarters; the first one warms up."""
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
    """User and system time of a process of this machine, as proc(5) has it."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _batches(size: int, last_key: Key) -> Iterator[Batch]:
    """The batches of the turns of a partition, each of this number of commands, after one that deploys the process."""
    state = State(PARTITION)
    state.last_key = last_key
    turns = Turns(state, Quota(QuotaConfig()))
    content, process_id = ours(MODEL), str(MODELS[MODEL].element.get("id"))
    resource = Resource("model.bpmn", content, hashlib.sha256(content).hexdigest(), (process_id,))
    yield _turn(turns, [Entry(DeployResources(TENANT, (resource,)))], NOW).batch
    commands = _commands(process_id, activated := [])
    for number in range(COMMANDS // size):
        entries = [
            Entry(next(commands), origin=_origin(number * size + place, last_key)) for place in range(size)
        ]
        turn = _turn(turns, entries, NOW + number * TICK)
        activated += [
            job.key for _, result in turn.results if isinstance(result, ActivatedJobs) for job in result.jobs
        ]
        yield turn.batch


def _turn(turns: Turns, entries: Sequence[Entry], now: datetime) -> Turn:
    turn = Turn()
    turns.grow(turn, entries, now=now)
    turns.seal(turn)
    return turn


def _commands(process_id: str, activated: list[Key]) -> Iterator[Command]:
    """Without end; a job has to be activated before its turn to be completed comes."""
    variables = {name: str(value) for name, value in VARIABLES.items()}
    create = CreateProcessInstance(tenant_id=TENANT, process_definition_id=process_id, variables=variables)
    activate = ActivateJobs(
        tenant_id=TENANT, type="work", worker="bench", timeout=timedelta(minutes=1), max_jobs=1
    )
    while True:
        yield create
        yield activate
        if activated:
            yield CompleteJob(TENANT, activated.pop(0), {"done": "true"})


def _origin(number: int, last_key: Key) -> Origin:
    key = IdempotencyKey(TENANT, f"{last_key}-{number}", hashlib.sha256(b"%d" % number).digest())
    return Origin(TENANT, actor_id="bench", request_id=f"request-{number}", idempotency=key)
