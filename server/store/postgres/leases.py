"""Leases of partitions: one row each, changed by compare-and-set, with the database's clock only.

Taking a partition begins a new epoch, and commits of an older epoch fail, so the former owner may still be
running. A commit in progress locks the row of its partition, and no renewal or survey waits for that lock: a
commit prolongs the lease itself. A lease also lives while the row of its owner's node does, which no commit
locks; versions that do not know this take a partition only if no commit is in progress.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

from server.engine.formats import LATEST, OLDEST
from server.engine.keys import COUNTER_BITS, Key
from server.platform.postgres.database import Database
from server.store.ports import PartitionId

# Whether the row of a partition names an owner that lives.
_IS_LIVE = """
    partition.owner IS NOT NULL AND (partition.expires_at >= clock_timestamp() OR EXISTS (
        SELECT FROM gnomon.node AS owning
        WHERE owning.node_id = partition.owner AND owning.expires_at >= clock_timestamp()
    ))
"""

MOST_PARTITIONS = (1 << 63 - COUNTER_BITS) - 1

# Versions without format numbers refuse a database with an unknown migration, and they read only the table of
# migrations. A row above this number therefore stands for a cluster format that they cannot read.
FIRST_FENCE = 10_000


@dataclass(frozen=True, slots=True)
class Lease:
    """The start of an owner: its own epoch, and the position and last key that the previous owner left.

    The first `message_homes` partitions are homes of messages.
    """

    partition_id: PartitionId
    epoch: int
    position: int
    last_key: Key
    message_homes: int = field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class LeaseHolder:
    """The current or last owner of a partition; None when it was released or never taken."""

    partition_id: PartitionId
    owner: str | None
    address: str | None
    epoch: int
    position: int
    is_live: bool
    has_messages: bool = True


_HOLDING = tuple(field.name for field in fields(LeaseHolder))


@dataclass(frozen=True, slots=True)
class NodeFormats:
    """The formats that a node can read and writes; `unreadable` is the number of partitions it cannot read.

    `latest` is lower than what the version reads if an operator holds it back.
    """

    oldest: int = OLDEST
    latest: int = LATEST
    written: int = OLDEST
    unreadable: int = 0


_OF_THIS_PROGRAM = NodeFormats()


@dataclass(frozen=True, slots=True)
class FormatRow:
    """The cluster format, and the live node with the lowest latest format; `lowest` is None when no node is alive."""

    cluster: int
    lowest: int | None = None
    laggard: str = ""


@dataclass(frozen=True, slots=True)
class Survey:
    """A node's periodic reading: the cluster format, all leases, and the number of other nodes.

    `other_nodes` counts live nodes that can read everything in the partitions.
    """

    formats: FormatRow
    other_nodes: int
    holdings: Sequence[LeaseHolder]


class Leases:
    """The lease rows and node rows of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create_partitions(self, count: int) -> None:
        """Add partitions up to this number; partitions are never removed.

        Only the first created partitions are homes of messages, so subscriptions are always found where they
        were opened.
        """
        if not 1 <= count <= MOST_PARTITIONS:
            raise ValueError(f"expected 1 to {MOST_PARTITIONS} partitions, found {count}")
        present = await self._database.fetch("SELECT count(*) FROM gnomon.partition")
        if present[0][0] >= count:
            return
        # A commit in progress sends to the partitions that it saw at its start, so it must end before
        # partitions are added.
        text = f"""
            LOCK TABLE gnomon.partition IN SHARE ROW EXCLUSIVE MODE;
            INSERT INTO gnomon.partition (partition_id, last_key, has_messages)
            SELECT number, number::bigint << {COUNTER_BITS}, NOT EXISTS (SELECT FROM gnomon.partition)
            FROM generate_series(1, {count:d}) AS number
            ON CONFLICT DO NOTHING
        """  # noqa: S608  # numbers of our own
        await self._database.execute(text)

    async def beat(
        self, node_id: str, address: str, *, seconds: float, formats: NodeFormats = _OF_THIS_PROGRAM
    ) -> None:
        """Report that the node and its leases are alive for this time; delete nodes that died a day ago."""
        text = """
            WITH forgotten AS (
                DELETE FROM gnomon.node
                WHERE expires_at < clock_timestamp() - interval '1 day' AND node_id <> $1
            )
            INSERT INTO gnomon.node (
                node_id, address, started_at, expires_at, oldest_format, latest_format, written_format, unreadable
            )
            VALUES ($1, $2, clock_timestamp(), clock_timestamp() + $3 * interval '1 second', $4, $5, $6, $7)
            ON CONFLICT (node_id) DO UPDATE SET address = EXCLUDED.address, expires_at = EXCLUDED.expires_at,
                oldest_format = EXCLUDED.oldest_format, latest_format = EXCLUDED.latest_format,
                written_format = EXCLUDED.written_format, unreadable = EXCLUDED.unreadable
        """
        numbers = (formats.oldest, formats.latest, formats.written, formats.unreadable)
        await self._database.fetch(text, node_id, address, seconds, *numbers)

    async def leave(self, node_id: str) -> None:
        """Report that the node is gone; it keeps its leases until they are released or expire."""
        await self._database.fetch("DELETE FROM gnomon.node WHERE node_id = $1", node_id)

    async def survey(self, node_id: str) -> Survey:
        """Everything that a node reads periodically, in one statement, because nodes run it twice a second even when idle."""
        text = f"""
            WITH cluster AS (
                SELECT coalesce((SELECT format FROM gnomon.cluster_format), 1) AS format
            ), live AS (
                SELECT node_id, latest_format, unreadable FROM gnomon.node WHERE expires_at >= clock_timestamp()
            ), lowest AS (
                SELECT node_id, latest_format FROM live ORDER BY latest_format, node_id LIMIT 1
            )
            SELECT cluster.format AS cluster, lowest.latest_format AS lowest, lowest.node_id AS laggard, (
                    SELECT count(*) FROM live
                    WHERE node_id <> $1 AND unreadable = 0 AND latest_format >= cluster.format
                ) AS other_nodes,
                partition_id, owner, address, epoch, position, {_IS_LIVE} AS is_live, has_messages
            FROM cluster LEFT JOIN lowest ON true LEFT JOIN gnomon.partition ON true ORDER BY partition_id
        """  # noqa: S608  # a condition of our own
        rows = await self._database.fetch(text, node_id)
        first = rows[0]
        formats = FormatRow(first["cluster"], first["lowest"], first["laggard"] or "")
        holdings = [
            LeaseHolder(**{name: row[name] for name in _HOLDING})
            for row in rows
            if row["partition_id"] is not None
        ]
        return Survey(formats, first["other_nodes"], holdings)

    async def formats(self) -> FormatRow:
        """The cluster format, and the node that keeps it from rising."""
        text = """
            SELECT coalesce((SELECT format FROM gnomon.cluster_format), 1) AS cluster,
                latest_format AS lowest, coalesce(node_id, '') AS laggard
            FROM (VALUES (1)) AS one LEFT JOIN (
                SELECT node_id, latest_format FROM gnomon.node WHERE expires_at >= clock_timestamp()
                ORDER BY latest_format, node_id LIMIT 1
            ) AS lowest ON true
        """
        found = await self._database.fetch(text)
        return FormatRow(**found[0])

    async def raise_format(self, latest: int) -> None:
        """Raise the cluster format to what all live nodes read, but at most to `latest`; it never falls.

        Versions without format numbers no longer start on the database afterwards.
        """
        # A node that takes a partition locks the row FOR SHARE: the second statement sees that node, or the
        # node sees the new format.
        text = f"""
            SELECT format FROM gnomon.cluster_format FOR UPDATE;
            INSERT INTO gnomon.cluster_format (format)
            SELECT least({latest:d}, min(latest_format)) FROM gnomon.node WHERE expires_at >= clock_timestamp()
            ON CONFLICT (is_only) DO UPDATE SET format = EXCLUDED.format
                WHERE cluster_format.format < EXCLUDED.format;
            INSERT INTO public.gnomon_migration (number, name, checksum, applied_at)
            SELECT {FIRST_FENCE} + format, 'cluster_format_' || format, '', now()
            FROM gnomon.cluster_format WHERE format > 1
            ON CONFLICT DO NOTHING
        """  # noqa: S608  # numbers of our own
        await self._database.execute(text)

    async def take(
        self,
        partition_id: PartitionId,
        node_id: str,
        *,
        address: str,
        seconds: float,
        latest_format: int = LATEST,
    ) -> Lease | None:
        """Begin a new epoch of a partition that is free or whose lease has expired.

        None when it has an owner, when a commit of an owner is in progress, or when the cluster format is
        later than the node reads.
        """
        text = f"""
            WITH cluster AS (
                SELECT format FROM gnomon.cluster_format FOR SHARE
            ), free AS (
                SELECT partition_id FROM gnomon.partition
                WHERE partition_id = $1 AND NOT ({_IS_LIVE})
                    AND $5 >= coalesce((SELECT format FROM cluster), 1)
                FOR NO KEY UPDATE SKIP LOCKED
            )
            UPDATE gnomon.partition AS taken SET owner = $2, address = $3, epoch = epoch + 1,
                expires_at = clock_timestamp() + $4 * interval '1 second'
            FROM free WHERE taken.partition_id = free.partition_id
            RETURNING epoch, position, last_key,
                (SELECT count(*) FROM gnomon.partition WHERE has_messages) AS message_homes
        """  # noqa: S608  # a condition of our own
        taken = await self._database.fetch(text, partition_id, node_id, address, seconds, latest_format)
        return Lease(partition_id, **taken[0]) if taken else None

    async def renew(
        self, node_id: str, epochs: Mapping[PartitionId, int], *, seconds: float
    ) -> frozenset[PartitionId]:
        """Renew these leases; returns the partitions that the node still owns.

        An expired lease is still owned until another node takes it. A lease whose row a commit has locked is
        owned, too, because the commit compares the epoch.
        """
        text = """
            WITH own AS (
                SELECT partition_id FROM gnomon.partition
                JOIN unnest($2::smallint[], $3::bigint[]) AS own (partition_id, epoch) USING (partition_id, epoch)
                WHERE owner = $1
            ), free AS (
                SELECT held.partition_id FROM gnomon.partition AS held
                JOIN unnest($2::smallint[], $3::bigint[]) AS own (partition_id, epoch) USING (partition_id, epoch)
                WHERE held.owner = $1
                FOR NO KEY UPDATE OF held SKIP LOCKED
            ), renewed AS (
                UPDATE gnomon.partition AS held SET expires_at = clock_timestamp() + $4 * interval '1 second'
                FROM free WHERE held.partition_id = free.partition_id
            )
            SELECT partition_id FROM own
        """
        found = await self._database.fetch(text, node_id, list(epochs), list(epochs.values()), seconds)
        return frozenset(PartitionId(row["partition_id"]) for row in found)

    async def release(self, lease: Lease, node_id: str) -> None:
        """Release the partition, unless another node has taken it."""
        text = """
            UPDATE gnomon.partition SET owner = NULL, address = NULL, expires_at = clock_timestamp()
            WHERE partition_id = $1 AND epoch = $2 AND owner = $3
        """
        await self._database.fetch(text, lease.partition_id, lease.epoch, node_id)

    async def holdings(self) -> Sequence[LeaseHolder]:
        """The lease holders of all partitions, in order."""
        text = f"""
            SELECT partition_id, owner, address, epoch, position, {_IS_LIVE} AS is_live, has_messages
            FROM gnomon.partition ORDER BY partition_id
        """  # noqa: S608  # a condition of our own
        return [LeaseHolder(**row) for row in await self._database.fetch(text)]
