"""Partitions and nodes of a deployment, for operators who inspect and change them by hand."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from server.platform.errors import NotFound
from server.platform.postgres.database import Database
from server.store.ports import PartitionId

KEYS_SKIPPED = 1 << 40
"""Half a year of keys at 70 000 a second; a partition has enough keys for two thousand restores."""


@dataclass(frozen=True, slots=True)
class PartitionRow:
    """A partition; `owner` is the last owner, and the current one if `is_live`.

    `queued` is the number of commands of other partitions in the outbox.
    """

    partition_id: PartitionId
    owner: str | None
    address: str | None
    epoch: int
    position: int
    is_live: bool
    expires_at: datetime | None
    active_instances: int
    queued: int


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node that was alive within the last day; `expires_at` is when it counts as dead.

    It reads formats up to `latest_format` and writes `written_format`; it gave back `unreadable` partitions.
    """

    node_id: str
    address: str
    started_at: datetime
    expires_at: datetime
    is_live: bool
    latest_format: int
    written_format: int
    unreadable: int
    partitions: tuple[PartitionId, ...]


async def partitions(database: Database) -> Sequence[PartitionRow]:
    text = """
        SELECT partition_id, owner, address, epoch, position,
            owner IS NOT NULL AND expires_at >= clock_timestamp() AS is_live, expires_at,
            (SELECT coalesce(sum(count), 0)::bigint FROM gnomon.active_instances AS active
                WHERE active.partition_id = held.partition_id) AS active_instances,
            (SELECT count(*) FROM gnomon.outbox WHERE target = held.partition_id) AS queued
        FROM gnomon.partition AS held ORDER BY partition_id
    """
    return [PartitionRow(**row) for row in await database.fetch(text)]


async def nodes(database: Database) -> Sequence[NodeRow]:
    """All nodes, live ones first."""
    text = """
        SELECT node_id, address, started_at, expires_at, expires_at >= clock_timestamp() AS is_live,
            latest_format, written_format, unreadable,
            ARRAY(SELECT partition_id FROM gnomon.partition
                WHERE owner = node_id AND gnomon.partition.expires_at >= clock_timestamp() ORDER BY partition_id
            ) AS partitions
        FROM gnomon.node ORDER BY is_live DESC, node_id
    """
    return [NodeRow(**{**row, "partitions": tuple(row["partitions"])}) for row in await database.fetch(text)]


async def release(database: Database, partition_id: PartitionId) -> str | None:
    """Take a partition from its owner, so that any node can take it; returns the owner, None if there was none.

    The new epoch makes this safe: the former owner commits nothing more, even before it notices. Raises
    NotFound.
    """
    text = """
        WITH before AS (
            SELECT partition_id, owner FROM gnomon.partition WHERE partition_id = $1 FOR UPDATE
        )
        UPDATE gnomon.partition AS held
        SET owner = NULL, address = NULL, epoch = epoch + 1, expires_at = clock_timestamp()
        FROM before WHERE held.partition_id = before.partition_id
        RETURNING before.owner
    """
    found = await database.fetch(text, partition_id)
    if not found:
        raise NotFound(f"no partition {partition_id}")
    owner: str | None = found[0][0]
    return owner


async def begin_anew(database: Database) -> None:
    """Reset the ownership of a restored database, so that no earlier node can commit to it.

    The epochs continue from the current time, higher than all epochs after the backup was taken. Keys skip a
    range for those assigned since the backup, which clients may still hold.
    """
    text = f"""
        UPDATE gnomon.partition SET owner = NULL, address = NULL, expires_at = NULL,
            epoch = greatest(epoch + 1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint),
            last_key = last_key + {KEYS_SKIPPED};
        DELETE FROM gnomon.node
    """  # noqa: S608  # a constant of ours
    await database.execute(text)
