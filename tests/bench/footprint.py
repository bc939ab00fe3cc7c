"""What a process instance costs a deployment: processor time, WAL, rows and disk, for a few shapes of processes.

64 instances are in flight over gRPC in bundled mode with one partition; history is kept. The disk is that of tables and
indexes when the load ends, with what vacuum has not removed yet.
"""

import hashlib
import time
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import asyncpg
import uvloop
from rich.table import Table

from server.bpmn.builder import ProcessBuilder, process, sub_process
from tests.bench.instance_load import Asked, Figures, loaded
from tests.bench.processes import server_seconds, tree_seconds
from tests.bench.served import deploy, served, token_of
from tests.postgres import postgres_server

IN_FLIGHT = 64
SECONDS = 15
# PostgreSQL's processes tell of their rows about every second.
STATISTICS_SECONDS = 3
SMALL = '{"amount":120,"customer":"c-1"}'
# Of text that does not compress to nothing.
LETTER = "".join(hashlib.sha256(str(number).encode()).hexdigest() for number in range(160))
LARGE = f'{{"amount":120,"letter":"{LETTER}"}}'


def _with_scripts() -> ProcessBuilder:
    prepare = (
        sub_process("prepare")
        .start()
        .script_task("net", expression="=amount / 1.2", result="net")
        .script_task("tax", expression="=amount - net", result="tax")
        .script_task("total", expression="=net + tax", result="total")
        .end()
    )
    return (
        process("scripts")
        .start()
        .exclusive_gateway("large")
        .flow(condition="=amount > 100")
        .embed(prepare)
        .service_task("work", type="scripts")
        .end()
        .branch("large")
        .flow(default=True)
        .end()
    )


SHAPES: Mapping[str, tuple[ProcessBuilder, str]] = {
    "one service task": (process("one").start().service_task("work", type="one").end(), SMALL),
    "one service task, a variable of 10 KB": (
        process("heavy").start().service_task("work", type="heavy").end(),
        LARGE,
    ),
    "gateway, sub-process with three scripts, service task": (_with_scripts(), SMALL),
}


@dataclass(frozen=True, slots=True)
class Spent:
    """So far: CPU seconds of the server and of PostgreSQL, bytes of WAL, rows written, bytes on disk."""

    server: float
    postgres: float
    wal: int
    rows: int
    disk: int


def table() -> Table:
    table = Table(title=f"Cost of a process instance, {IN_FLIGHT} in flight, bundled mode, one partition")
    table.add_column("process")
    for column in (
        "instances/s",
        "server CPU ms",
        "PostgreSQL CPU ms",
        "WAL KiB",
        "rows written",
        "disk KiB",
    ):
        table.add_column(column, justify="right")
    for name, (builder, variables) in SHAPES.items():
        table.add_row(name, *_costs(builder, variables))
    return table


def _costs(builder: ProcessBuilder, variables: str) -> list[str]:
    """On a server of its own, so that vacuum has no rows of others."""
    process_id = str(builder.element.get("id"))
    with postgres_server() as dsn, served(dsn) as server:
        address, token = server.addresses.grpc, token_of(server.addresses.http)
        deploy(address, token, builder.to_xml())
        asked = Asked("grpc", address, token, process_id, SECONDS, IN_FLIGHT, variables=variables)
        loaded(asked)
        begun = _spent(dsn, server.processes)
        figures = loaded(asked)
        return _of_one(begun, _spent(dsn, server.processes), figures)


def _of_one(begun: Spent, ended: Spent, figures: Figures) -> list[str]:
    instances = figures.completed
    return [
        f"{instances / figures.seconds:,.0f}",
        f"{(ended.server - begun.server) / instances * 1000:.2f}",
        f"{(ended.postgres - begun.postgres) / instances * 1000:.2f}",
        f"{(ended.wal - begun.wal) / instances / 1024:.1f}",
        f"{(ended.rows - begun.rows) / instances:.1f}",
        f"{(ended.disk - begun.disk) / instances / 1024:.1f}",
    ]


def _spent(dsn: str, processes: AbstractSet[int]) -> Spent:
    time.sleep(STATISTICS_SECONDS)  # nothing tells when they have
    return uvloop.run(_so_far(dsn, processes))


async def _so_far(dsn: str, processes: AbstractSet[int]) -> Spent:
    connection = await asyncpg.connect(dsn)
    try:
        number, wal, rows, disk = await connection.fetchrow(
            "SELECT pg_backend_pid(), pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint,"
            " tup_inserted + tup_updated + tup_deleted, pg_database_size(current_database())"
            " FROM pg_stat_database WHERE datname = current_database()"
        )
        return Spent(tree_seconds(processes), server_seconds(number), wal, rows, disk)
    finally:
        await connection.close()
