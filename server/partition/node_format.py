"""The cluster format as a node sees it: when it is raised, and whether this node can read it.

The format is a row in the database that never falls, so a node that returns with an older version learns what
was written meanwhile. A partition that a node cannot read is left to other nodes until the node restarts.
"""

import logging
from typing import Protocol

from server.engine.formats import LATEST, OLDEST, ClusterFormat
from server.store.ports import PartitionId
from server.store.postgres.leases import FormatRow, NodeFormats

logger = logging.getLogger(__name__)


class FormatTable(Protocol):
    """The rows of the cluster format and of the nodes' formats; both calls raise Unavailable."""

    async def formats(self) -> FormatRow: ...

    async def raise_format(self, latest: int) -> None:
        """Raise the cluster format to what all live nodes read, but at most to `latest`."""
        ...


class NodeFormat:
    """Format of a node that reads formats up to `reads`; the operator's bound `held_at` limits raising, 0 for no bound."""

    def __init__(self, held_at: int = 0, *, reads: int = LATEST) -> None:
        self._held_at = held_at
        self._reads = reads
        self._unreadable: set[PartitionId] = set()
        self.cluster = ClusterFormat(OLDEST)

    @property
    def is_readable(self) -> bool:
        """Whether this version reads what the nodes of the deployment write."""
        return self.cluster.number <= self._reads

    @property
    def announced(self) -> NodeFormats:
        """The formats for the row of this node."""
        return NodeFormats(OLDEST, self._latest, min(self.cluster.number, self._reads), len(self._unreadable))

    @property
    def _latest(self) -> int:
        """The latest format that this node accepts; a format that was reached is never given up."""
        return min(self._reads, max(self._held_at or self._reads, self.cluster.number))

    def can_read(self, partition_id: PartitionId) -> bool:
        return self.is_readable and partition_id not in self._unreadable

    def give_up(self, partition_id: PartitionId) -> None:
        """Leave a partition to nodes that can read it."""
        self._unreadable.add(partition_id)

    async def look(self, found: FormatRow, table: FormatTable) -> None:
        """Adopt the cluster format of the row, and raise it first when all nodes read a later one. Raises Unavailable."""
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
