"""Totals of searches: counted, and kept for as long as nothing changes.

Whatever reads see changes with the position of a partition, or because a bucket of history is dropped; moves to history
change nothing for them. So a total that was counted at the same positions over the same buckets is exact.
"""

from collections import OrderedDict
from collections.abc import Sequence

import asyncpg

from server.platform.query import Condition
from server.platform.query.sql import Relation, count_of

MOST_TOTALS = 2000
LONGEST_TEXT = 4096
"""Of a filter that is kept with its total."""

_VERSION = """
    SELECT ARRAY(SELECT position FROM gnomon.partition ORDER BY partition_id),
        ARRAY(SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass($1) ORDER BY inhrelid)
"""

Version = tuple[tuple[int, ...], tuple[int, ...]]
Asked = tuple[str, str, tuple[Condition, ...]]


class Totals:
    """Those asked for last."""

    def __init__(self) -> None:
        self._known: OrderedDict[Asked, tuple[Version, int]] = OrderedDict()

    async def total(
        self, connection: asyncpg.Connection, relation: Relation, conditions: Sequence[Condition], tenant_id: str
    ) -> int:
        """Of one snapshot: the connection is in a transaction that keeps it."""
        ...
