"""The tables that an entity's rows lie in, with what tells whether they are as they were.

Weeks of history grow, mostly the latest one, and lose rows when callers delete some. Process instances that came to a week
are counted, and all of their rows come with them; so are the steps that deleted rows; the keys of audit entries rise with the commits of their partition, and so do the numbers of those
that belong to no partition.
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

# Of these old rows leave without a commit.
_FORGOTTEN = frozenset({DecisionInstance, BatchOperation, BatchOperationItem})


@dataclass(frozen=True, slots=True)
class Part:
    """A table at one moment: another one that is equal has the same rows."""

    name: str
    version: tuple[int | Decimal | str, ...]


async def parts_of(connection: asyncpg.Connection, entity: type[Entity]) -> Sequence[Part]:
    """All that there are. The connection has to be in a transaction that sees one snapshot."""
    if entity is AuditEntry:
        return await _audited(connection)
    name = TABLES[entity].name
    moment = _snapshot if entity in _FORGOTTEN else _moment
    live = Part(f"runtime.{name}", await moment(connection))
    return (live, *await _weeks(connection, name)) if entity in BUCKETED else (live,)


async def tables_of(connection: asyncpg.Connection, entity: type[Entity]) -> Sequence[str]:
    """Names of the tables of an entity that belongs to process instances; one may be dropped at any time.

    Of a week, the table of process instances is made last: before, nothing has moved to the others.
    """
    name, whole = TABLES[entity].name, TABLES[ProcessInstance].name
    text = """
        SELECT right(relname::text, 8) FROM pg_inherits JOIN pg_class ON oid = inhrelid
        WHERE inhparent = to_regclass($1) ORDER BY relname
    """
    weeks = await connection.fetch(text, f"history.{whole}")
    return (f"runtime.{name}", *(f"history.{name}_{week}" for (week,) in weeks))


async def _moment(connection: asyncpg.Connection) -> tuple[int, ...]:
    """Live rows change with commits, and when some of them move."""
    text = """
        SELECT ARRAY(SELECT position FROM gnomon.partition ORDER BY partition_id),
            (SELECT coalesce(sum(arrived), 0)::bigint FROM history.arrivals)
    """
    positions, arrived = await connection.fetchrow(text)
    return (arrived, *positions)


async def _snapshot(connection: asyncpg.Connection) -> tuple[str]:
    """A text that stays the same until a row is written."""
    return (await connection.fetchval("SELECT pg_current_snapshot()::text"),)


async def _weeks(connection: asyncpg.Connection, name: str) -> Sequence[Part]:
    text = """
        SELECT child.relname::text, child.oid::bigint, coalesce(sum(arrived + deletions), 0)::bigint
        FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
        LEFT JOIN history.arrivals ON week = to_date(right(child.relname, 8), 'YYYYMMDD')
        WHERE inhparent = to_regclass($1) GROUP BY child.oid, child.relname ORDER BY child.relname
    """
    found = await connection.fetch(text, f"history.{name}")
    return [Part(f"history.{name}", tuple(version)) for name, *version in found]


async def _audited(connection: asyncpg.Connection) -> Sequence[Part]:
    weeks = await _weeks(connection, TABLES[AuditEntry].name)
    if not weeks:
        return ()
    lasts = await connection.fetchrow(f"SELECT {', '.join(_last_keys(week.name) for week in weeks)}")
    return [Part(week.name, (week.version[0], last or 0)) for week, last in zip(weeks, lasts, strict=True)]


def _last_keys(week: str) -> str:
    """Their sum is the same as long as each is."""
    return f"""(
        SELECT sum((
            SELECT max(audit_entry_key) FROM {week} AS entry WHERE entry.partition_id = writer.partition_id
        )) FROM (SELECT partition_id FROM gnomon.partition UNION ALL SELECT {NO_PARTITION}) AS writer
    )"""  # noqa: S608  # names of our own
