"""Numbers of search matches, counted by table and cached until the table changes.

Most weeks of history never change again, so after a commit only live rows and the latest week are counted
anew.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import asyncpg

from server.platform.query import Clauses
from server.platform.query.clauses import conditions_in, relations_in
from server.platform.query.sql import Statement, bounded_count_of, count_of
from server.store.entities import Entity
from server.store.postgres.columns import BUCKETED
from server.store.postgres.parts import Part, parts_of
from server.store.postgres.relations import RELATIONS, table

MOST_FILTERS = 1000
LONGEST_FILTER = 2000
"""Approximate number of characters up to which the counts of a filter are cached."""

# An entity, a tenant, a filter, and the number of matches in each table at which counting stops.
Asked = tuple[type[Entity], str, Clauses, int | None]
Counts = Mapping[Part, int]


@dataclass(frozen=True, slots=True)
class Matches:
    """The number of matches, and the tables that have some. A total that `has_more` is a lower bound."""

    total: int
    tables: Sequence[str]
    has_more: bool = False


class Totals:
    """LRU cache of counts by filter."""

    def __init__(self) -> None:
        self._known: OrderedDict[Asked, Counts] = OrderedDict()

    async def matches(
        self,
        connection: asyncpg.Connection,
        entity: type[Entity],
        clauses: Clauses,
        tenant_id: str,
        *,
        most: int | None = None,
    ) -> Matches:
        """Count the matches of a filter, up to `most`. The connection must be in a transaction with one snapshot.

        Raises UndefinedTableError when a week is dropped meanwhile.
        """
        asked = (entity, tenant_id, clauses, most)
        known = self._known.get(asked, {})
        parts = await parts_of(connection, entity)
        unknown = [part for part in parts if part not in known]
        counted = {**known, **await _counted(connection, asked, unknown)} if unknown else known
        counts = {part: counted[part] for part in parts}
        if _may_be_kept(clauses):
            self._keep(asked, counts)
        total = sum(counts.values())
        tables = [part.name for part, count in counts.items() if count]
        if most is not None and total > most:
            return Matches(most, tables, has_more=True)
        return Matches(total, tables)

    def _keep(self, asked: Asked, counts: Counts) -> None:
        self._known[asked] = counts
        self._known.move_to_end(asked)
        if len(self._known) > MOST_FILTERS:
            self._known.popitem(last=False)


def _may_be_kept(clauses: Clauses) -> bool:
    """Whether the counts may be cached: not if the filter joins rows outside of history, which change separately."""
    are_in_history = all(related.entity in BUCKETED for related in relations_in(clauses))
    length = sum(len(str(condition.operand)) for condition in conditions_in(clauses))
    return are_in_history and length <= LONGEST_FILTER


async def count(
    connection: asyncpg.Connection, entity: type[Entity], clauses: Clauses, tenant_id: str
) -> int:
    """The number of matches in all tables."""
    statement = count_of(RELATIONS[entity], clauses, tenant_id=tenant_id)
    counted: int = await connection.fetchval(statement.text, *statement.arguments)
    return counted


async def _counted(connection: asyncpg.Connection, asked: Asked, parts: Sequence[Part]) -> Counts:
    """Count in all parts with one statement; all counts have the same arguments."""
    counts = [_count_in(part, asked) for part in parts]
    text = f"SELECT {', '.join(f'({count.text})' for count in counts)}"
    found = await connection.fetchrow(text, *counts[0].arguments)
    return dict(zip(parts, found, strict=True))


def _count_in(part: Part, asked: Asked) -> Statement:
    entity, tenant_id, clauses, most = asked
    relation = table(entity, part.name)
    if most is None:
        return count_of(relation, clauses, tenant_id=tenant_id)
    return bounded_count_of(relation, clauses, tenant_id=tenant_id, most=most + 1)
