"""Reads of the durable store: rows by key and searches, over live and ended rows together."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar, cast

import asyncpg

from server.engine.keys import COUNTER_BITS, Key
from server.platform.errors import Unavailable
from server.platform.postgres.pooled import PooledDatabase
from server.platform.query import Clause, Clauses, Condition, Operator, Page, Query, Statistic, Window
from server.platform.query.clauses import relations_in
from server.platform.query.cursor import cursors
from server.platform.query.sql import (
    Relation,
    Statement,
    bounded_page_of,
    groups_of,
    groups_within,
    owned_by,
    page_of,
    page_of_few,
    quoted,
)
from server.store.entities import Entity
from server.store.ports import E, S
from server.store.postgres.columns import BUCKETED
from server.store.postgres.literals import storable
from server.store.postgres.parts import tables_of
from server.store.postgres.relations import RELATIONS, counted_in, table, within
from server.store.postgres.rows import row_reader
from server.store.postgres.totals import Totals, count
from server.store.searchables import SEARCHABLES

FEW = 10_000
"""Up to this number of matches, sorting is faster than reading an index in order."""

_GET: Mapping[type[Entity], str] = {
    entity: f"""
        SELECT {", ".join(map(quoted, relation.columns))} FROM {relation.name}
        WHERE {owned_by(relation, "$1")} AND partition_id = $2::bigint >> {COUNTER_BITS} AND {SEARCHABLES[entity].key.name} = $2
    """  # noqa: S608  # names of our own
    for entity, relation in RELATIONS.items()
}

MOST_DROPS = 10
"""Retention drops one week after the other; a search starts again after each dropped week it meets."""

# No single plan suits all tenants and values: some have a million rows and some have ten.
_PLANNED_ANEW = "SET LOCAL plan_cache_mode = force_custom_plan"

# Key columns of which each value has few rows.
_SELECTIVE = frozenset({"process_instance_key", "parent_process_instance_key", "scope_key", "entity_key"})

T = TypeVar("T")

# Rows, the total, and whether the count stopped before the end.
Found = tuple[Sequence[asyncpg.Record], int, bool]


class PostgresStore:
    """The reads of PostgreSQL; they raise Unavailable when the database does not respond.

    Searches and statistics use the connections of `pool`. Rows by key, and the program's own queries, which
    have no page limit, use those of `rows`, so that they do not wait for searches.
    """

    def __init__(self, pool: asyncpg.Pool, rows: PooledDatabase | None = None) -> None:
        self._database = PooledDatabase(pool)
        self._rows = rows or self._database
        self._totals = Totals()

    async def get(self, entity: type[E], key: Key, *, tenant_id: str) -> E | None:
        kind = cast("type[Entity]", entity)
        records = await self._rows.fetch(_GET[kind], storable(tenant_id), key)
        return row_reader(entity)(records[0]) if records else None

    async def search(self, entity: type[E], query: Query, *, tenant_id: str) -> Page[E]:
        kind = cast("type[Entity]", entity)
        find = self._looked_up if _is_lookup(kind, query) else self._searched
        database = self._rows if query.window.limit is None else self._database
        async with database.connection() as connection:
            records, total, has_more = await find(connection, kind, query, tenant_id)
        items = list(map(row_reader(entity), records))
        if query.window.before is not None:
            items.reverse()
        start, end = cursors(query, items)
        return Page(items, total, start, end, has_more)

    async def statistics(
        self, statistic: Statistic[S], clauses: Clauses = (), *, tenant_id: str
    ) -> Sequence[S]:
        are_together = not statistic.is_live and _look_beside(statistic.entity, clauses)
        count = self._counted_by_table if are_together else self._counted
        async with self._database.connection() as connection:
            records = await _repeated(partial(count, connection, statistic, clauses, tenant_id))
        return [statistic.row(*record) for record in records]

    async def _counted(
        self, connection: asyncpg.Connection, statistic: Statistic[S], clauses: Clauses, tenant_id: str
    ) -> Sequence[asyncpg.Record]:
        statement = groups_of(counted_in(statistic), statistic, clauses, tenant_id=tenant_id)
        async with connection.transaction(readonly=True):
            await connection.execute(_PLANNED_ANEW)
            return await _fetch(connection, statement)

    async def _counted_by_table(
        self, connection: asyncpg.Connection, statistic: Statistic[S], clauses: Clauses, tenant_id: str
    ) -> Sequence[asyncpg.Record]:
        """Count table by table, so that a row is joined within its own week instead of with all weeks of history."""
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            await connection.execute(_PLANNED_ANEW)
            names = await tables_of(connection, statistic.entity)
            relations = [table(statistic.entity, name) for name in names]
            return await _fetch(connection, groups_within(relations, statistic, clauses, tenant_id=tenant_id))

    async def _looked_up(
        self, connection: asyncpg.Connection, entity: type[Entity], query: Query, tenant_id: str
    ) -> Found:
        """The page, and the count unless the page shows it; one cached plan suits all values."""
        relation = RELATIONS[entity]
        page = page_of(relation, query, tenant_id=tenant_id)
        records, found = await _rows(connection, page, relation, query)
        if _shows_the_end(query.window, found):
            return records, query.window.offset + found, False
        return records, await count(connection, entity, query.clauses, tenant_id), False

    async def _searched(
        self, connection: asyncpg.Connection, entity: type[Entity], query: Query, tenant_id: str
    ) -> Found:
        return await _repeated(partial(self._seen_at_once, connection, entity, query, tenant_id))

    async def _seen_at_once(
        self, connection: asyncpg.Connection, entity: type[Entity], query: Query, tenant_id: str
    ) -> Found:
        """The page and the total; the total is read first, because it determines how to find the page."""
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            await connection.execute(_PLANNED_ANEW)
            matches = await self._totals.matches(
                connection, entity, query.clauses, tenant_id, most=query.most_total
            )
            if matches.total <= query.window.offset and not matches.has_more:
                return (), matches.total, False
            is_few = matches.total <= FEW and not matches.has_more
            page = page_of_few if is_few else page_of
            relation = within(entity, matches.tables)
            statement = page(relation, query, tenant_id=tenant_id)
            records, _ = await _rows(connection, statement, relation, query)
            return records, matches.total, matches.has_more


async def _repeated(read: Callable[[], Awaitable[T]]) -> T:
    """Repeat a read when a week of history was dropped meanwhile."""
    for _ in range(1 + MOST_DROPS):
        with suppress(asyncpg.UndefinedTableError):
            return await read()
    raise Unavailable("tables of history keep changing; repeat the search")


def _look_beside(entity: type[Entity], clauses: Clauses) -> bool:
    """Whether rows of history are joined with other rows of history."""
    return entity in BUCKETED and any(related.entity in BUCKETED for related in relations_in(clauses))


def _is_lookup(entity: type[Entity], query: Query) -> bool:
    """Whether few rows match for any values of the filter, or no page limit is given."""
    keys = {SEARCHABLES[entity].key.name, *_SELECTIVE}
    return query.window.limit is None or any(_names_values(clause, keys) for clause in query.clauses)


def _names_values(clause: Clause, keys: set[str]) -> bool:
    if not isinstance(clause, Condition):
        return False
    return clause.operator in {Operator.EQ, Operator.IN} and clause.field.name in keys


def _shows_the_end(window: Window, found: int) -> bool:
    """Whether a page at a known offset with this number of rows is the last one."""
    is_placed = window.after is None and window.before is None
    return is_placed and found != window.limit and (found > 0 or window.offset == 0)


async def _rows(
    connection: asyncpg.Connection, page: Statement, relation: Relation, query: Query
) -> tuple[Sequence[asyncpg.Record], int]:
    """The rows of a page within the query's amount of text, and the number of rows of the whole page."""
    if query.most_octets is None and not query.cut:
        records = await _fetch(connection, page)
        return records, len(records)
    records = await _fetch(connection, bounded_page_of(page, relation, query))
    return records, records[0][-1] if records else 0


async def _fetch(connection: asyncpg.Connection, statement: Statement) -> Sequence[asyncpg.Record]:
    records: Sequence[asyncpg.Record] = await connection.fetch(statement.text, *statement.arguments)
    return records
