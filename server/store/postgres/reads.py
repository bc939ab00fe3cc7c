"""Reads of the durable store: rows by their keys and searches, live rows and ended ones together."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

import asyncpg

from server.engine.keys import COUNTER_BITS, Key
from server.platform.query import Condition, Operator, Page, Query
from server.platform.query.cursor import cursors
from server.platform.query.sql import count_of, page_of, quoted
from server.store.entities import Entity
from server.store.ports import E
from server.store.postgres.literals import storable
from server.store.postgres.pooled import PooledDatabase
from server.store.postgres.relations import RELATIONS
from server.store.postgres.rows import row_reader
from server.store.searchables import SEARCHABLES

_GET: Mapping[type[Entity], str] = {
    entity: f"""
        SELECT {", ".join(map(quoted, relation.columns))} FROM {relation.name}
        WHERE tenant_id = $1 AND partition_id = $2::bigint >> {COUNTER_BITS} AND {SEARCHABLES[entity].key.name} = $2
    """  # noqa: S608  # names of our own
    for entity, relation in RELATIONS.items()
}

# Keys of which one value has few rows.
_SELECTIVE = frozenset({"process_instance_key", "parent_process_instance_key", "scope_key", "entity_key"})


class PostgresStore:
    """Raises Unavailable when the database does not answer."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        self._database = PooledDatabase(pool)

    async def get(self, entity: type[E], key: Key, *, tenant_id: str) -> E | None:
        records = await self._database.fetch(_GET[entity], storable(tenant_id), key)
        return row_reader(entity)(records[0]) if records else None

    async def search(self, entity: type[E], query: Query, *, tenant_id: str) -> Page[E]:
        relation, window = RELATIONS[entity], query.window
        page = page_of(relation, query, tenant_id=tenant_id)
        async with self._reading(entity, query.conditions) as connection:
            records = await connection.fetch(page.text, *page.arguments)
            total = _known_total(query, len(records))
            if total is None:
                count = count_of(relation, query.conditions, tenant_id=tenant_id)
                total = await connection.fetchval(count.text, *count.arguments)
        items = list(map(row_reader(entity), records))
        if window.before is not None:
            items.reverse()
        return Page(items, total, *cursors(query, items))

    @asynccontextmanager
    async def _reading(
        self, entity: type[Entity], conditions: Sequence[Condition]
    ) -> AsyncIterator[asyncpg.Connection]:
        async with self._database.connection() as connection:
            if _is_lookup(entity, conditions):
                yield connection
                return
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                # A plan for any tenant and any value suits none: some have a million rows and some have ten.
                await connection.execute("SET LOCAL plan_cache_mode = force_custom_plan")
                yield connection


def _known_total(query: Query, found: int) -> int | None:
    """Number of all matches when the page tells it: it begins at a known place and shows their end."""
    window = query.window
    if window.after is not None or window.before is not None:
        return None
    if window.limit is not None and found == window.limit:
        return None
    return window.offset + found if found or not window.offset else None


def _is_lookup(entity: type[Entity], conditions: Sequence[Condition]) -> bool:
    """Whether few rows match, whatever the values are: then one plan suits all."""
    key = SEARCHABLES[entity].key.name
    return any(
        condition.operator in {Operator.EQ, Operator.IN} and condition.field.name in {key, *_SELECTIVE}
        for condition in conditions
    )
