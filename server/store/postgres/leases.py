"""Who owns a partition: a row for each, changed by comparing, timed by the database's clock alone.

Taking a partition begins a new epoch, and whoever commits in an older one fails; so nobody has to be sure that a former
owner is gone. Nothing here waits for longer than the database lets a statement wait.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from server.engine.keys import COUNTER_BITS, Key
from server.platform.postgres.database import Database
from server.store.ports import PartitionId

MOST_PARTITIONS = (1 << 63 - COUNTER_BITS) - 1


@dataclass(frozen=True, slots=True)
class Lease:
    """What an owner begins with: the epoch is its own, position and last key are where the owner before it left off."""

    partition_id: PartitionId
    epoch: int
    position: int
    last_key: Key


@dataclass(frozen=True, slots=True)
class Holding:
    """Who has a partition, or had it last; nobody when it was given back or never taken."""

    partition_id: PartitionId
    owner: str | None
    address: str | None
    epoch: int
    position: int
    is_live: bool


class Leases:
    """The partitions and nodes of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create_partitions(self, count: int) -> None:
        """Add those that are missing up to this number; there are never fewer than before."""
        if not 1 <= count <= MOST_PARTITIONS:
            raise ValueError(f"expected 1 to {MOST_PARTITIONS} partitions, found {count}")
        present = await self._database.fetch("SELECT count(*) FROM gnomon.partition")
        if present[0][0] >= count:
            return
        # A commit under way sends to the partitions that it saw at its beginning: it has to end before there are more.
        text = f"""
            LOCK TABLE gnomon.partition IN SHARE ROW EXCLUSIVE MODE;
            INSERT INTO gnomon.partition (partition_id, last_key)
            SELECT number, number::bigint << {COUNTER_BITS} FROM generate_series(1, {count:d}) AS number
            ON CONFLICT DO NOTHING
        """  # noqa: S608  # numbers of our own
        await self._database.execute(text)

    async def beat(self, node_id: str, address: str, *, seconds: float) -> None:
        """Say that the node lives, for so long from now; nodes that died yesterday are forgotten."""
        text = """
            WITH forgotten AS (
                DELETE FROM gnomon.node
                WHERE expires_at < clock_timestamp() - interval '1 day' AND node_id <> $1
            )
            INSERT INTO gnomon.node (node_id, address, started_at, expires_at)
            VALUES ($1, $2, clock_timestamp(), clock_timestamp() + $3 * interval '1 second')
            ON CONFLICT (node_id) DO UPDATE SET address = EXCLUDED.address, expires_at = EXCLUDED.expires_at
        """
        await self._database.fetch(text, node_id, address, seconds)

    async def leave(self, node_id: str) -> None:
        """Say that the node is gone; what it holds stays its own until released or expired."""
        await self._database.fetch("DELETE FROM gnomon.node WHERE node_id = $1", node_id)

    async def live_nodes(self) -> int:
        text = "SELECT count(*) FROM gnomon.node WHERE expires_at >= clock_timestamp()"
        found = await self._database.fetch(text)
        number: int = found[0][0]
        return number

    async def take(
        self, partition_id: PartitionId, node_id: str, *, address: str, seconds: float
    ) -> Lease | None:
        """Begin a new epoch of a partition that nobody has, or whose owner let it expire; None when somebody has it."""
        text = """
            UPDATE gnomon.partition SET owner = $2, address = $3, epoch = epoch + 1,
                expires_at = clock_timestamp() + $4 * interval '1 second'
            WHERE partition_id = $1 AND (owner IS NULL OR expires_at < clock_timestamp())
            RETURNING epoch, position, last_key
        """
        taken = await self._database.fetch(text, partition_id, node_id, address, seconds)
        return Lease(partition_id, **taken[0]) if taken else None

    async def renew(
        self, node_id: str, epochs: Mapping[PartitionId, int], *, seconds: float
    ) -> frozenset[PartitionId]:
        """Which of these the node still has, now for so long; one that expired is its own while nobody took it."""
        text = """
            UPDATE gnomon.partition AS held SET expires_at = clock_timestamp() + $4 * interval '1 second'
            FROM unnest($2::smallint[], $3::bigint[]) AS own (partition_id, epoch)
            WHERE held.partition_id = own.partition_id AND held.epoch = own.epoch AND held.owner = $1
            RETURNING held.partition_id
        """
        renewed = await self._database.fetch(text, node_id, list(epochs), list(epochs.values()), seconds)
        return frozenset(PartitionId(row[0]) for row in renewed)

    async def release(self, lease: Lease, node_id: str) -> None:
        """Give the partition back, unless somebody took it already."""
        text = """
            UPDATE gnomon.partition SET owner = NULL, address = NULL, expires_at = clock_timestamp()
            WHERE partition_id = $1 AND epoch = $2 AND owner = $3
        """
        await self._database.fetch(text, lease.partition_id, lease.epoch, node_id)

    async def holdings(self) -> Sequence[Holding]:
        """Of every partition, in order."""
        text = """
            SELECT partition_id, owner, address, epoch, position,
                owner IS NOT NULL AND expires_at >= clock_timestamp() AS is_live
            FROM gnomon.partition ORDER BY partition_id
        """
        return [Holding(**row) for row in await self._database.fetch(text)]
