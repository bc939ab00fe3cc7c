"""`gnomon admin partitions`: list partitions, or increase their number."""

from typing import Annotated

import typer

from server.cli.admin.command import admin_command
from server.cli.admin.deployment import Deployment, tables
from server.cli.admin.failures import Failed
from server.cli.admin.report import show, table_of
from server.cli.output import Output
from server.cli.terminal_table import Columns
from server.partition.config import MAX_PARTITIONS
from server.platform.postgres.pooled import PooledDatabase
from server.store.postgres import administration
from server.store.postgres.leases import Leases

COLUMNS = Columns(
    "partitions",
    {
        "Partition": "partition_id",
        "Owner": "owner",
        "Address": "address",
        "Live": "is_live",
        "Epoch": "epoch",
        "Position": "position",
        "Active instances": "active_instances",
        "Queued": "queued",
    },
    expendable=("Position", "Address", "Epoch", "Queued", "Active instances", "Live"),
)


@admin_command
async def list_partitions(deployment: Deployment, output: Output) -> None:
    async with tables(deployment) as database:
        await _show(database, output)


@admin_command
async def grow(
    deployment: Deployment,
    output: Output,
    to: Annotated[
        int,
        typer.Argument(metavar="TO", min=1, max=MAX_PARTITIONS, help="New number of partitions."),
    ],
) -> None:
    async with tables(deployment) as database:
        leases = Leases(database)
        present = len(await leases.holdings())
        if to < present:
            raise Failed(f"there are {present} partitions, and their number cannot be lowered")
        await leases.create_partitions(to)
        await _show(database, output)


async def _show(database: PooledDatabase, output: Output) -> None:
    found = await administration.partitions(database)
    show(output, table_of(found, COLUMNS), items=found)
