"""`gnomon admin leases`: list nodes and what they hold, or take a partition from one."""

from typing import Annotated

import typer
from rich.console import Group

from server.cli.admin.command import admin_command
from server.cli.admin.deployment import Deployment, tables
from server.cli.admin.report import show, table_of
from server.cli.output import Output
from server.cli.terminal_table import Columns
from server.platform.postgres.pooled import PooledDatabase
from server.store.ports import PartitionId
from server.store.postgres import administration

NODE_COLUMNS = Columns(
    "nodes",
    {
        "Node": "node_id",
        "Address": "address",
        "Live": "is_live",
        "Started": "started_at",
        "Counts as dead at": "expires_at",
        "Reads format": "latest_format",
        "Writes format": "written_format",
        "Unreadable": "unreadable",
        "Partitions": "partitions",
    },
    expendable=("Started", "Counts as dead at", "Unreadable", "Address", "Live"),
)
LEASE_COLUMNS = Columns(
    "leases",
    {
        "Partition": "partition_id",
        "Owner": "owner",
        "Live": "is_live",
        "Epoch": "epoch",
        "Expires": "expires_at",
    },
    expendable=("Expires", "Epoch", "Live"),
)


@admin_command
async def list_leases(deployment: Deployment, output: Output) -> None:
    async with tables(deployment) as database:
        await _show(database, output)


@admin_command
async def release(
    deployment: Deployment,
    output: Output,
    partition: Annotated[int, typer.Argument(metavar="PARTITION", min=1, help="Number of the partition.")],
) -> None:
    async with tables(deployment) as database:
        await administration.release(database, PartitionId(partition))
        await _show(database, output)


async def _show(database: PooledDatabase, output: Output) -> None:
    nodes = await administration.nodes(database)
    leases = await administration.partitions(database)
    rendered = Group(table_of(nodes, NODE_COLUMNS), "", table_of(leases, LEASE_COLUMNS))
    show(output, rendered, nodes=nodes, leases=leases)
