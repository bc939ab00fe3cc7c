"""`gnomon admin leases`: list nodes and what they hold, or take a partition from one."""

from typing import Annotated

import typer
from rich.console import Group

from server.cli.admin.command import admin_command
from server.cli.admin.deployment import Deployment, tables
from server.cli.admin.listing import listing, show
from server.cli.output import Output
from server.platform.postgres.pooled import PooledDatabase
from server.store.ports import PartitionId
from server.store.postgres import administration

NODE_COLUMNS = {
    "Node": "node_id",
    "Address": "address",
    "Live": "is_live",
    "Started": "started_at",
    "Counts as dead at": "expires_at",
    "Partitions": "partitions",
}
LEASE_COLUMNS = {
    "Partition": "partition_id",
    "Owner": "owner",
    "Live": "is_live",
    "Epoch": "epoch",
    "Expires": "expires_at",
}


@admin_command
async def list_leases(deployment: Deployment, output: Output) -> None:
    """List nodes with what they hold, and leases with when they expire, by the database's clock."""
    async with tables(deployment) as database:
        await _show(database, output)


@admin_command
async def release(
    deployment: Deployment,
    output: Output,
    partition: Annotated[int, typer.Argument(metavar="PARTITION", min=1, help="Its number.")],
) -> None:
    """Take a partition from its owner: a node that has room takes it and recovers it, the same one perhaps."""
    async with tables(deployment) as database:
        await administration.release(database, PartitionId(partition))
        await _show(database, output)


async def _show(database: PooledDatabase, output: Output) -> None:
    nodes = await administration.nodes(database)
    leases = await administration.partitions(database)
    rendered = Group(listing(nodes, NODE_COLUMNS), "", listing(leases, LEASE_COLUMNS))
    show(output, rendered, nodes=nodes, leases=leases)
