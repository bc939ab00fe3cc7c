"""The cost of a process instance while definitions grow: one, a thousand and ten thousand processes are deployed.

Each has one service task, and the instances are of the first. 64 of them are in flight over gRPC in bundled mode with
one partition. The start is from the call of the program until it is ready, with all definitions there.
"""

import time
from dataclasses import dataclass

from rich.table import Table

from server.bpmn.builder import process
from tests.bench.instance_load import Asked, loaded
from tests.bench.processes import tree_mebibytes, tree_seconds
from tests.bench.served import deploy, served, token_of
from tests.postgres import postgres_server
from tests.server_process import Addresses

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
        deployed, first = 0, 0.0
        for size in SIZES:
            with served(dsn) as server:
                rate = _deployed(server.addresses, range(deployed, size))
            deployed = size
            cost = _cost(dsn)
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


def _cost(dsn: str) -> Cost:
    with served(dsn) as server:
        addresses = server.addresses
        asked = Asked("grpc", addresses.grpc, token_of(addresses.http), FIRST, SECONDS, IN_FLIGHT)
        loaded(asked)
        before = tree_seconds(server.processes)
        figures = loaded(asked)
        cpu = tree_seconds(server.processes) - before
        return Cost(
            server.start,
            figures.completed / figures.seconds,
            cpu / figures.completed,
            tree_mebibytes(server.processes),
        )


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
