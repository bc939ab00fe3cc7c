"""Totals of searches: counted, and kept for as long as nothing changes.

What searches see changes with the position of a partition or when a bucket of history is dropped; a move to history
changes nothing for them. So a total that was counted at the same positions over the same buckets is exact.
"""

from collections import OrderedDict

import asyncpg

from server.platform.query import Condition
from server.platform.query.sql import count_of
from server.store.entities import Entity
from server.store.postgres.columns import TABLES
from server.store.postgres.relations import RELATIONS

MOST_TOTALS = 2000
LONGEST_FILTER = 2000
"""Characters of a filter whose total is kept, about."""

Conditions = tuple[Condition, ...]
Asked = tuple[type[Entity], str, Conditions]
Version = tuple[tuple[int, ...], tuple[int, ...]]


class Totals:
    """Those asked for last. A connection has to be in a transaction that sees one snapshot."""

    def __init__(self) -> None:
        self._known: OrderedDict[Asked, tuple[Version, int]] = OrderedDict()

    async def total(
        self, connection: asyncpg.Connection, entity: type[Entity], conditions: Conditions, tenant_id: str
    ) -> int:
        asked = (entity, tenant_id, conditions)
        version = await _version(connection, entity)
        known = self._known.get(asked)
        if known is not None and known[0] == version:
            self._known.move_to_end(asked)
            return known[1]
        counted = await count(connection, entity, conditions, tenant_id)
        if sum(len(str(condition.operand)) for condition in conditions) <= LONGEST_FILTER:
            self._keep(asked, version, counted)
        return counted

    def _keep(self, asked: Asked, version: Version, counted: int) -> None:
        self._known[asked] = version, counted
        self._known.move_to_end(asked)
        if len(self._known) > MOST_TOTALS:
            self._known.popitem(last=False)


async def count(
    connection: asyncpg.Connection, entity: type[Entity], conditions: Conditions, tenant_id: str
) -> int:
    """All matches."""
    statement = count_of(RELATIONS[entity], conditions, tenant_id=tenant_id)
    counted: int = await connection.fetchval(statement.text, *statement.arguments)
    return counted


async def _version(connection: asyncpg.Connection, entity: type[Entity]) -> Version:
    text = """
        SELECT ARRAY(SELECT position FROM gnomon.partition ORDER BY partition_id),
            ARRAY(SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass($1) ORDER BY inhrelid)
    """
    positions, buckets = await connection.fetchrow(text, f"history.{TABLES[entity].name}")
    return tuple(positions), tuple(buckets)
