"""The cluster format as a node sees it: raised when all nodes read a later one, and whether this node reads it.

The format is a row of the database that never falls, so a node that comes back with an older program finds what was
written meanwhile. A partition that a node cannot read is left to others until the node starts anew.
"""

import logging
from typing import Protocol

from server.engine.formats import LATEST, OLDEST, ClusterFormat
from server.store.ports import PartitionId
from server.store.postgres.leases import FormatRow, NodeFormats

logger = logging.getLogger(__name__)


class FormatTable(Protocol):
    """The row of the cluster format and those of nodes; both calls raise Unavailable."""

    async def formats(self) -> FormatRow: ...

    async def raise_format(self, latest: int) -> None:
        """Raise the cluster format to what all live nodes read, and to `latest` at most."""
        ...


class NodeFormat:
    """Of a program that reads formats up to `reads`; `held_at` is the latest to which an operator lets it rise, 0 for any."""

    def __init__(self, held_at: int = 0, *, reads: int = LATEST) -> None:
        self._held_at = held_at
        self._reads = reads
        self._unreadable: set[PartitionId] = set()
        self.cluster = ClusterFormat(OLDEST)

    @property
    def is_readable(self) -> bool:
        """Whether this program reads what the nodes of the deployment write."""
        return self.cluster.number <= self._reads

    @property
    def announced(self) -> NodeFormats:
        """The formats in the row of the node."""
        return NodeFormats(OLDEST, self._latest, min(self.cluster.number, self._reads), len(self._unreadable))

    @property
    def _latest(self) -> int:
        """A format that was reached is not given up again."""
        return min(self._reads, max(self._held_at or self._reads, self.cluster.number))

    def can_read(self, partition_id: PartitionId) -> bool:
        return self.is_readable and partition_id not in self._unreadable

    def give_up(self, partition_id: PartitionId) -> None:
        """Leave a partition to nodes that can read it."""
        self._unreadable.add(partition_id)

    async def look(self, found: FormatRow, table: FormatTable) -> None:
        """Adopt the cluster format that was found, and raise it when all nodes read a later one. Raises Unavailable."""
        if min(self._latest, found.lowest or self._latest) > found.cluster:
            await table.raise_format(self._latest)
            found = await table.formats()
        self._adopt(found)

    def _adopt(self, found: FormatRow) -> None:
        is_behind = found.lowest is not None and found.lowest < self._reads
        cluster = ClusterFormat(found.cluster, found.laggard if is_behind else "")
        if cluster.number != self.cluster.number:
            self._report(cluster)
        self.cluster = cluster

    def _report(self, cluster: ClusterFormat) -> None:
        facts = {"cluster_format": cluster.number, "reads_up_to": self._reads}
        if cluster.number > self._reads:
            logger.error("the deployment writes a later format: this node takes no partitions", extra=facts)
        else:
            logger.info("the cluster format was raised", extra=facts)
