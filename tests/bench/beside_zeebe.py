"""Completed process instances beside Zeebe 8.6 on this machine, in alternation: `make bench-zeebe`.

Each process has one service task. Both servers run all the time, and the load goes to one of them at a time.

The servers do different work. Ours checks a token at each call, and writes the history for searches into PostgreSQL. Zeebe
checks no tokens, writes no history, and keeps its state in RocksDB. Both wait for the disk at each batch of commands.
"""

import os
import sys
import time
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from server.bpmn.builder import process
from server.launcher import default_partitions
from server.platform.cores import available_cores
from tests.bench.instance_load import Asked, loaded
from tests.bench.processes import children, tree_mebibytes, tree_seconds
from tests.bench.served import deploy, token_of
from tests.peer.broker import ABSENT, broker, is_here
from tests.server_process import DEMO_ACCESS, server_in

PROCESS = "story"
MODEL = process(PROCESS).start().service_task("work", type=PROCESS).end().to_xml()
RUNS = 3
SECONDS = 10
WARM_UP_SECONDS = 200
IDLE_SECONDS = 15


@dataclass(frozen=True, slots=True)
class Load:
    """`rate` is in starts a second, 0 for as many as there is time for; `theirs` is how the peer is asked instead."""

    name: str
    way: str
    in_flight: int
    rate: int = 0
    theirs: str = ""


LOADS = (
    Load("HTTP, 64 in flight", "http", 64),
    Load("gRPC, 64 in flight", "grpc", 64),
    Load("gnomon.client beside gRPC, 64 in flight", "gnomon.client", 64, theirs="grpc"),
    Load("HTTP, 16 in flight", "http", 16),
    Load("gRPC, 16 in flight", "grpc", 16),
    Load("HTTP, 50 starts a second", "http", 256, 50),
    Load("gRPC, 50 starts a second", "grpc", 256, 50),
)


@dataclass(frozen=True, slots=True)
class Server:
    http: str
    grpc: str
    processes: AbstractSet[int]
    token: str = ""

    def load(self, way: str, in_flight: int, rate: int, seconds: float) -> "Speed":
        address = self.http if way == "http" else self.grpc
        asked = Asked(way, address, self.token, PROCESS, seconds, in_flight, rate)
        before = tree_seconds(self.processes)
        figures = loaded(asked)
        cpu = tree_seconds(self.processes) - before
        starts = [seconds * 1000 for seconds in figures.starts]
        return Speed(
            figures.completed / figures.seconds,
            figures.completed / cpu,
            starts[len(starts) // 2],
            starts[len(starts) * 99 // 100],
        )


@dataclass(frozen=True, slots=True)
class Speed:
    """Completed instances per second, and per second of the server's CPU; milliseconds until a start is answered."""

    rate: float
    of_cpu: float
    p50: float
    p99: float

    @staticmethod
    def median(runs: "list[Speed]") -> "Speed":
        return Speed(
            median(run.rate for run in runs),
            median(run.of_cpu for run in runs),
            median(run.p50 for run in runs),
            median(run.p99 for run in runs),
        )


def main() -> int:
    """The exit code: 2 without a peer."""
    console = Console(width=150)
    if not is_here():
        console.print(ABSENT)
        return 2
    with ExitStack() as stack:
        ours, theirs = _ours(stack), _theirs(stack)
        for server in (ours, theirs):
            deploy(server.grpc, server.token, MODEL)
        console.print(_idle(ours, theirs))
        _warm_up(ours, theirs)
        console.print(_loaded(ours, theirs))
        console.print(_idle(ours, theirs))
    return 0


def _ours(stack: ExitStack) -> Server:
    before = children(os.getpid())
    partitions = str(default_partitions(available_cores()))
    environment = {**DEMO_ACCESS, "GNOMON_CLUSTER__PARTITIONS": partitions}
    addresses = stack.enter_context(server_in("bundled", environment=environment))
    return Server(addresses.http, addresses.grpc, children(os.getpid()) - before, token_of(addresses.http))


def _theirs(stack: ExitStack) -> Server:
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="gnomon-peer-")))
    environment = {
        "ZEEBE_LOG_LEVEL": "warn",
        "ATOMIX_LOG_LEVEL": "warn",
        # The load bounds what is in flight. The peer would refuse requests while its code is not compiled yet.
        "ZEEBE_BROKER_BACKPRESSURE_ENABLED": "false",
    }
    running = stack.enter_context(broker(folder, environment))
    return Server(running.http, running.gateway, {running.process_id})


def _warm_up(ours: Server, theirs: Server) -> None:
    """The peer's code is compiled while it runs."""
    for way in ("http", "grpc"):
        theirs.load(way, 64, 0, WARM_UP_SECONDS / 2)
        ours.load(way, 64, 0, SECONDS)


def _loaded(ours: Server, theirs: Server) -> Table:
    table = Table(
        title=f"completed process instances beside Zeebe 8.6, medians of {RUNS} runs of {SECONDS} seconds"
    )
    table.add_column("load")
    for column in ("per second", "", "×", "per CPU-second", "", "×", "start p50 ms", "", "p99 ms", ""):
        table.add_column(column, justify="right")
    for load in LOADS:
        runs: list[tuple[Speed, Speed]] = []
        for _ in range(RUNS):
            own = ours.load(load.way, load.in_flight, load.rate, SECONDS)
            other = theirs.load(load.theirs or load.way, load.in_flight, load.rate, SECONDS)
            runs.append((own, other))
        own, other = (Speed.median(list(side)) for side in zip(*runs, strict=True))
        table.add_row(
            load.name,
            *(f"{own.rate:,.0f}", f"{other.rate:,.0f}", f"{own.rate / other.rate:.2f}"),
            *(f"{own.of_cpu:,.0f}", f"{other.of_cpu:,.0f}", f"{own.of_cpu / other.of_cpu:.2f}"),
            *(f"{own.p50:.1f}", f"{other.p50:.1f}", f"{own.p99:.1f}", f"{other.p99:.1f}"),
        )
    return table


def _idle(ours: Server, theirs: Server) -> Table:
    table = Table(title=f"without load, over {IDLE_SECONDS} seconds")
    for column in ("server", "% of a core", "MiB of memory (PSS)"):
        table.add_column(column, justify="left" if column == "server" else "right")
    servers = {"gnomon, bundled": ours, "Zeebe 8.6": theirs}
    before = {name: tree_seconds(server.processes) for name, server in servers.items()}
    time.sleep(IDLE_SECONDS)  # what is measured is that nothing happens
    spent = {name: tree_seconds(server.processes) - before[name] for name, server in servers.items()}
    for name, server in servers.items():
        share = spent[name] / IDLE_SECONDS * 100
        table.add_row(name, f"{share:.1f}", f"{tree_mebibytes(server.processes):,.0f}")
    return table


if __name__ == "__main__":
    sys.exit(main())
