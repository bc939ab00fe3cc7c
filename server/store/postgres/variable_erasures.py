"""Erases values of variables in rows that no commit changes any more, in bounded steps.

Commits note erasures in `gnomon.variable_erasure`, where they stay until every row is rewritten, so another process can
continue where one stopped. Rows move from the live tables to history, so history comes last.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Final

import orjson

from server.engine.keys import Key
from server.platform.postgres.database import Database
from server.store.entities import (
    AuditEntry,
    ElementInstance,
    Entity,
    ProcessInstance,
    Variable,
)
from server.store.erasable import ERASABLE, ERASED_VALUE, Erasable
from server.store.ports import PartitionId
from server.store.postgres.columns import BUCKETED, TABLES

ERASURES_AT_ONCE: Final = 200
ROWS_AT_ONCE: Final = 500
"""Most rows that a statement rewrites."""

_INSTANCE, _ELEMENT, _VARIABLE = (TABLES[each].name for each in (ProcessInstance, ElementInstance, Variable))
_CHOSEN = """
    chosen AS MATERIALIZED (
        SELECT * FROM unnest($2::bigint[], $3::timestamptz[]) AS one (process_instance_key, moment)
    )
"""


@dataclass(frozen=True, slots=True)
class _Group:
    """Noted erasures of the same variables in process instances of one tenant."""

    tenant_id: str
    names: Sequence[str]
    erasures: Sequence[Key]
    keys: Sequence[Key]
    moments: Sequence[datetime]


class VariableErasures:
    """The erasures of one partition. Every method raises Unavailable."""

    def __init__(self, database: Database, partition_id: PartitionId) -> None:
        self._database = database
        self._partition_id = partition_id

    async def erase_some(self) -> bool:
        """Finish the next noted erasures; returns whether there were any."""
        text = """
            SELECT erasure_key, tenant_id, process_instance_key, names, moment FROM gnomon.variable_erasure
            WHERE partition_id = $1 ORDER BY erasure_key LIMIT $2
        """
        rows = [tuple(row) for row in await self._database.fetch(text, self._partition_id, ERASURES_AT_ONCE)]
        for group in _groups(rows):
            for statement in _STATEMENTS:
                await self._rewrite(statement, group)
            await self._finish(group)
        return bool(rows)

    async def _rewrite(self, statement: str, group: _Group) -> None:
        names = (list(group.names),) if "$4" in statement else ()
        found = ROWS_AT_ONCE
        while found == ROWS_AT_ONCE:
            arguments = (group.tenant_id, group.keys, group.moments, *names)
            ((found,),) = await self._database.fetch(statement, *arguments)

    async def _finish(self, group: _Group) -> None:
        """Forget the erasures; searches count the matches in their weeks again."""
        text = """
            WITH counted AS (
                UPDATE history.arrivals SET deletions = deletions + 1
                WHERE partition_id = $1 AND week IN (
                    SELECT date_trunc('week', bucket)::date FROM history.process_instance
                    WHERE tenant_id = $2 AND partition_id = $1 AND process_instance_key = ANY($3::bigint[])
                )
            )
            DELETE FROM gnomon.variable_erasure WHERE partition_id = $1 AND erasure_key = ANY($4::bigint[])
        """
        arguments = (self._partition_id, group.tenant_id, group.keys, group.erasures)
        await self._database.fetch(text, *arguments)


def _groups(rows: Sequence[tuple[int, str, int, str, datetime]]) -> Iterator[_Group]:
    for (tenant_id, names), some in groupby(sorted(rows, key=_kind), _kind):
        erasures, _, keys, _, moments = zip(*some, strict=True)
        yield _Group(tenant_id, orjson.loads(names), [*map(Key, erasures)], [*map(Key, keys)], [*moments])


def _kind(row: tuple[int, str, int, str, datetime]) -> tuple[str, str]:
    return row[1], row[3]


def _statements() -> Iterator[str]:
    yield _of_variables("runtime")
    for entity, erasable in ERASABLE.items():
        if entity is not AuditEntry:
            yield _of_texts("runtime", entity, erasable)
    yield _of_variables("history")
    for entity, erasable in ERASABLE.items():
        if entity in BUCKETED:
            yield _of_texts("history", entity, erasable)


def _of_variables(schema: str) -> str:
    """SQL that erases values of variables whose scope ended before the erasure."""
    whole, element = f"{schema}.{_INSTANCE}", f"{schema}.{_ELEMENT}"
    return _rewrite(
        f"{schema}.{_VARIABLE}",
        _VARIABLE,
        {"value": ERASED_VALUE},
        f"""(cardinality($4::text[]) = 0 OR t.name = ANY($4::text[])) AND (
            EXISTS (
                SELECT FROM {element} AS scope
                WHERE scope.tenant_id = t.tenant_id AND scope.partition_id = t.partition_id
                    AND scope.element_instance_key = t.scope_key AND scope.end_date <= chosen.moment
            ) OR t.scope_key = t.process_instance_key AND EXISTS (
                SELECT FROM {whole} AS scope
                WHERE scope.tenant_id = t.tenant_id AND scope.partition_id = t.partition_id
                    AND scope.process_instance_key = t.scope_key AND scope.end_date <= chosen.moment
            )
        )""",  # noqa: S608  # names of our own
    )


def _of_texts(schema: str, entity: type[Entity], erasable: Erasable) -> str:
    name = TABLES[entity].name
    condition = f"t.{erasable.moment} <= chosen.moment"
    if erasable.settled is not None:
        field, value = erasable.settled
        condition += f" AND t.{field} = '{value}'"
    return _rewrite(f"{schema}.{name}", name, erasable.texts, condition)


def _rewrite(table: str, name: str, texts: Mapping[str, str], condition: str) -> str:
    """SQL that rewrites some rows and returns the number found, less than ROWS_AT_ONCE only at the end."""
    also = ", t.bucket" if table.startswith("history.") else ""
    same = " AND t.bucket = found.bucket" if also else ""
    differs = " OR ".join(f"t.{column} <> '{text}'" for column, text in texts.items())
    changes = ", ".join(
        f"{column} = CASE WHEN t.{column} IS NOT NULL THEN '{text}' END" for column, text in texts.items()
    )
    return f"""
        WITH {_CHOSEN}, found AS MATERIALIZED (
            SELECT t.partition_id, t.{name}_key AS key{also} FROM chosen
            JOIN {table} AS t ON t.process_instance_key = chosen.process_instance_key
            WHERE t.tenant_id = $1 AND ({differs}) AND {condition}
            LIMIT {ROWS_AT_ONCE}
        ), changed AS (
            UPDATE {table} AS t SET {changes} FROM found
            WHERE t.partition_id = found.partition_id AND t.{name}_key = found.key{same}
        )
        SELECT count(*) FROM found
    """  # noqa: S608  # names of our own


_STATEMENTS = tuple(_statements())
