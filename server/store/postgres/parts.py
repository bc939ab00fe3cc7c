"""The tables with an entity's rows, each with a version that tells whether its rows have changed.

Weeks of history grow, mostly the latest one, and lose rows when callers delete some. The process instances
that were moved to a week are counted, together with all of their rows, and so are deletion steps. The keys of
audit entries rise with the commits of their partition; entries without a partition have their own rising
numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import asyncpg

from server.store.entities import (
    AuditEntry,
    BatchOperation,
    BatchOperationItem,
    DecisionInstance,
    Entity,
    ProcessInstance,
)
from server.store.postgres.columns import BUCKETED, TABLES
from server.store.postgres.identity_audit import NO_PARTITION

# Old rows of these are deleted without a commit.
_FORGOTTEN = frozenset({DecisionInstance, BatchOperation, BatchOperationItem})


@dataclass(frozen=True, slots=True)
class Part:
    """A table at one moment; equal parts have the same rows."""

    name: str
    version: tuple[int | Decimal | str, ...]


async def parts_of(connection: asyncpg.Connection, entity: type[Entity]) -> Sequence[Part]:
    """All tables of an entity, with their versions. The connection must be in a transaction with one snapshot."""
    if entity is AuditEntry:
        return await _audited(connection)
    name = TABLES[entity].name
    moment = _snapshot if entity in _FORGOTTEN else _moment
    live = Part(f"runtime.{name}", await moment(connection))
    return (live, *await _weeks(connection, name)) if entity in BUCKETED else (live,)


async def tables_of(connection: asyncpg.Connection, entity: type[Entity]) -> Sequence[str]:
    """The tables of an entity that belongs to process instances; a table may be dropped at any time.

    In each week, the table of process instances is created last: before that, nothing was moved to the
    others.
    """
    name, whole = TABLES[entity].name, TABLES[ProcessInstance].name
    text = """
        SELECT right(relname::text, 8) FROM pg_inherits JOIN pg_class ON oid = inhrelid
        WHERE inhparent = to_regclass($1) ORDER BY relname
    """
    weeks = await connection.fetch(text, f"history.{whole}")
    return (f"runtime.{name}", *(f"history.{name}_{week}" for (week,) in weeks))


async def _moment(connection: asyncpg.Connection) -> tuple[int, ...]:
    """The version of live rows, which change with commits and with moves to history."""
    text = """
        SELECT ARRAY(SELECT position FROM gnomon.partition ORDER BY partition_id),
            (SELECT coalesce(sum(arrived), 0)::bigint FROM history.arrivals)
    """
    positions, arrived = await connection.fetchrow(text)
    return (arrived, *positions)


async def _snapshot(connection: asyncpg.Connection) -> tuple[str]:
    """The version of rows that change without a commit: it stays the same until any row is written."""
    return (await connection.fetchval("SELECT pg_current_snapshot()::text"),)


async def _weeks(
    connection: asyncpg.Connection, name: str, changes: str = "arrived + deletions"
) -> Sequence[Part]:
    text = f"""
        SELECT child.relname::text, child.oid::bigint, coalesce(sum({changes}), 0)::bigint
        FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
        LEFT JOIN history.arrivals ON week = to_date(right(child.relname, 8), 'YYYYMMDD')
        WHERE inhparent = to_regclass($1) GROUP BY child.oid, child.relname ORDER BY child.relname
    """  # noqa: S608  # names of our own
    found = await connection.fetch(text, f"history.{name}")
    return [Part(f"history.{name}", tuple(version)) for name, *version in found]


async def _audited(connection: asyncpg.Connection) -> Sequence[Part]:
    weeks = await _weeks(connection, TABLES[AuditEntry].name, "deletions")
    if not weeks:
        return ()
    lasts = await connection.fetchrow(f"SELECT {', '.join(_last_keys(week.name) for week in weeks)}")
    return [Part(week.name, (*week.version, last or 0)) for week, last in zip(weeks, lasts, strict=True)]


def _last_keys(week: str) -> str:
    """SQL for the sum of the last keys, which is unchanged as long as each last key is."""
    return f"""(
        SELECT sum((
            SELECT max(audit_entry_key) FROM {week} AS entry WHERE entry.partition_id = writer.partition_id
        )) FROM (SELECT partition_id FROM gnomon.partition UNION ALL SELECT {NO_PARTITION}) AS writer
    )"""  # noqa: S608  # names of our own
