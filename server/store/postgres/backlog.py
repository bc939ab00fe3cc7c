"""Counts of waiting rows in the database: expiring leases, commands between partitions, tasks of the retry queue."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from server.platform.postgres.database import Database
from server.store.ports import PartitionId

# Tables of the provider's records whose tasks call external servers.
RETRY_QUEUES = ("back_channel_logout", "queued_letter", "reset_request")


@dataclass(frozen=True, slots=True)
class Outbox:
    """Commands from one partition that another has not executed; `first` is the number of the oldest."""

    target: PartitionId
    source: PartitionId
    first: int
    count: int


@dataclass(frozen=True, slots=True)
class Backlog:
    """A sample; `lease_seconds` are the times until leases of the node expire, by the database's clock."""

    lease_seconds: Mapping[PartitionId, float] = field(default_factory=dict)
    outboxes: tuple[Outbox, ...] = ()
    retries: Mapping[str, int] = field(default_factory=dict)


async def backlog(database: Database, node_id: str) -> Backlog:
    """Count the commands for the partitions of a node, and all tasks of the retry queue. Raises Unavailable."""
    return Backlog(
        await _lease_seconds(database, node_id),
        await _outboxes(database, node_id),
        {name: await _retries(database, name) for name in RETRY_QUEUES},
    )


async def _lease_seconds(database: Database, node_id: str) -> Mapping[PartitionId, float]:
    text = """
        SELECT partition_id,
            extract(epoch FROM GREATEST(partition.expires_at, node.expires_at) - clock_timestamp())::float8
        FROM gnomon.partition LEFT JOIN gnomon.node ON node_id = owner WHERE owner = $1
    """
    return {PartitionId(number): seconds for number, seconds in await database.fetch(text, node_id)}


async def _outboxes(database: Database, node_id: str) -> tuple[Outbox, ...]:
    text = """
        SELECT outbox.target, outbox.source, min(outbox.number), count(*)
        FROM gnomon.outbox JOIN gnomon.partition ON partition.partition_id = outbox.target
        WHERE partition.owner = $1 GROUP BY outbox.target, outbox.source
    """
    return tuple(Outbox(*row) for row in await database.fetch(text, node_id))


async def _retries(database: Database, name: str) -> int:
    text = f"SELECT count(*) FROM identity.{name} WHERE due IS NOT NULL"  # noqa: S608  # a name of ours
    found = await database.fetch(text)
    count: int = found[0][0]
    return count
