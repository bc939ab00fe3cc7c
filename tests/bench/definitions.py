"""The cost of a process instance while definitions grow: one, a thousand and ten thousand processes are deployed.

Each has one service task, and the instances are of the first. 64 of them are in flight over gRPC in bundled mode with
one partition. The start is from the call of the program until it is ready, with all definitions there.
"""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from rich.table import Table

from server.bpmn.builder import process
from tests.bench.instance_load import Asked, deploy, loaded, token_of
from tests.bench.processes import children, tree_mebibytes, tree_seconds
from tests.postgres import postgres_server
from tests.server_process import DEMO_ACCESS, Addresses, server_process

SIZES = (1, 1_000, 10_000)
AT_ONCE = 50
IN_FLIGHT = 64
SECONDS = 10
FIRST = "process-0"


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of a start; instances per second, and microseconds of the server's CPU for each."""

    start: float
    rate: float
    cpu: float
    mebibytes: float


def table() -> Table:
    table = Table(title=f"Cost of a process instance by the number of definitions, {IN_FLIGHT} in flight")
    for column in (
        "definitions",
        "instances/s",
        "server CPU ms",
        "to the first",
        "deployments/s",
        "start s",
        "memory MiB",
    ):
        table.add_column(column, justify="right")
    with postgres_server() as dsn:
        environment = {**DEMO_ACCESS, "GNOMON_DATABASE__DSN": dsn, "GNOMON_CLUSTER__PARTITIONS": "1"}
        deployed, first = 0, 0.0
        for size in SIZES:
            with _served(environment) as (addresses, _, _):
                rate = _deployed(addresses, range(deployed, size))
            deployed = size
            cost = _cost(environment)
            first = first or cost.cpu
            table.add_row(
                f"{size:,}",
                f"{cost.rate:,.0f}",
                f"{cost.cpu * 1000:.2f}",
                f"{cost.cpu / first:.2f}",
                f"{rate:,.0f}" if size > 1 else "",
                f"{cost.start:.1f}",
                f"{cost.mebibytes:,.0f}",
            )
    return table


def _cost(environment: Mapping[str, str]) -> Cost:
    with _served(environment) as (addresses, processes, start):
        asked = Asked("grpc", addresses.grpc, token_of(addresses.http), FIRST, SECONDS, IN_FLIGHT)
        loaded(asked)
        before = tree_seconds(processes)
        figures = loaded(asked)
        cpu = tree_seconds(processes) - before
        return Cost(
            start,
            figures.completed / figures.seconds,
            cpu / figures.completed,
            tree_mebibytes(processes),
        )


@contextmanager
def _served(environment: Mapping[str, str]) -> Iterator[tuple[Addresses, set[int], float]]:
    """The addresses of a server, its processes, and the seconds of its start."""
    before, begun = children(os.getpid()), time.perf_counter()
    with server_process("--mode", "bundled", environment=environment) as addresses:
        yield addresses, children(os.getpid()) - before, time.perf_counter() - begun


def _deployed(addresses: Addresses, numbers: range) -> float:
    """Return how many were deployed in a second."""
    token, begun = token_of(addresses.http), time.perf_counter()
    for first in range(numbers.start, numbers.stop, AT_ONCE):
        some = range(first, min(first + AT_ONCE, numbers.stop))
        deploy(addresses.grpc, token, *map(_model, some))
    return len(numbers) / (time.perf_counter() - begun)


def _model(number: int) -> bytes:
    name = f"process-{number}"
    return process(name).start().service_task("work", type=name).end().to_xml()
