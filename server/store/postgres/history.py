"""Moves ended process instances from the runtime tables to the buckets of history, which are dropped as a whole.

All rows of a process instance go to the bucket of the UTC day on which it ended. If several processes move an
instance, one succeeds and the others find nothing to move.
"""

from collections.abc import Sequence
from datetime import date, datetime
from itertools import accumulate

import asyncpg

from server.engine.keys import Key
from server.platform.postgres.database import Database
from server.store.entities import (
    CorrelatedMessageSubscription,
    ElementInstance,
    Incident,
    Job,
    MessageSubscription,
    ProcessInstance,
    UserTask,
    Variable,
)
from server.store.ports import PartitionId
from server.store.postgres.buckets import WEEK, create_buckets, drop_buckets
from server.store.postgres.columns import TABLES, Table
from server.store.postgres.literals import scalars

WEEKS_AHEAD = 4
MOVED_AT_ONCE = 1000
MOVED_OCTETS = 8 * 1024 * 1024
FORGOTTEN_AT_ONCE = 10_000

PARTS = (
    ElementInstance,
    Job,
    Variable,
    Incident,
    UserTask,
    MessageSubscription,
    CorrelatedMessageSubscription,
)
_END = "(coalesce(end_date, start_date) AT TIME ZONE 'UTC')::date"


class History:
    """Moves to history and retention, for every partition of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def move(self, partition_id: PartitionId, keys: Sequence[Key]) -> int:
        """Move those of these process instances that have ended and are still in runtime; returns their number."""
        moved = 0
        for first in range(0, len(keys), MOVED_AT_ONCE):
            some = keys[first : first + MOVED_AT_ONCE]
            try:
                moved += await self._move(partition_id, some)
            except asyncpg.CheckViolationError:  # no bucket for one of the days
                await create_buckets(self._database, await self._days(partition_id, some))
                moved += await self._move(partition_id, some)
        return moved

    async def fitting(self, partition_id: PartitionId, keys: Sequence[Key]) -> int:
        """The number of these process instances, from the first on, that one move takes: at least one.

        The variables of all have at most `MOVED_OCTETS`.
        """
        text = """
            SELECT process_instance_key, coalesce((
                SELECT sum(octet_length(value)) FROM runtime.variable AS part
                WHERE part.partition_id = whole.partition_id AND part.tenant_id = whole.tenant_id
                    AND part.process_instance_key = whole.process_instance_key
            ), 0)
            FROM runtime.process_instance AS whole
            WHERE partition_id = $1 AND process_instance_key = ANY($2::bigint[])
        """
        octets = dict(await self._database.fetch(text, partition_id, keys))
        sizes = accumulate(octets.get(key, 0) for key in keys)
        return max(sum(1 for size in sizes if size <= MOVED_OCTETS), 1)

    async def ensure_buckets(self, now: datetime) -> None:
        """Create the buckets of this week and the next ones."""
        await create_buckets(self._database, [now.date() + week * WEEK for week in range(WEEKS_AHEAD + 1)])

    async def drop_before(self, day: date) -> tuple[str, ...]:
        """Drop rows that ended, and audit entries, in the weeks before the week of this day; returns the dropped tables."""
        return await drop_buckets(self._database, day)

    async def forget_answers(self, before: datetime) -> int:
        """Delete stored answers from before the given time; returns their number."""
        text = """
            WITH old AS (
                SELECT tenant_id, idempotency_key, partition_id FROM gnomon.idempotency
                WHERE created_at < $1 ORDER BY created_at LIMIT $2
            ), forgotten AS (
                DELETE FROM gnomon.idempotency AS answer USING old
                WHERE (answer.tenant_id, answer.idempotency_key, answer.partition_id)
                    = (old.tenant_id, old.idempotency_key, old.partition_id)
                RETURNING 1
            )
            SELECT count(*) FROM forgotten
        """
        forgotten = 0
        while some := (await self._database.fetch(text, before, FORGOTTEN_AT_ONCE))[0][0]:
            forgotten += some
        return forgotten

    async def _move(self, partition_id: PartitionId, keys: Sequence[Key]) -> int:
        """Uses a statement with the keys as literals, so that PostgreSQL plans it anew for these keys and the current table sizes."""
        status = await self._database.execute(_move(partition_id, keys))
        return int(status.removeprefix("SELECT "))

    async def _days(self, partition_id: PartitionId, keys: Sequence[Key]) -> Sequence[date]:
        text = f"""
            SELECT DISTINCT {_END} FROM runtime.process_instance
            WHERE partition_id = $1 AND process_instance_key = ANY($2::bigint[]) AND state <> 'ACTIVE'
        """  # noqa: S608  # names of our own
        return [row[0] for row in await self._database.fetch(text, partition_id, keys)]


def _move(partition_id: PartitionId, keys: Sequence[Key]) -> str:
    instances = f"""
        old_process_instance AS (
            DELETE FROM runtime.process_instance
            WHERE partition_id = {partition_id} AND process_instance_key = ANY('{scalars(keys)}'::bigint[])
                AND state <> 'ACTIVE'
            RETURNING *, {_END} AS bucket
        ), {_kept(TABLES[ProcessInstance])}, counted AS (
            INSERT INTO history.arrivals AS known (partition_id, week, arrived)
            SELECT partition_id, date_trunc('week', bucket)::date, count(*) FROM old_process_instance
            GROUP BY 1, 2 ORDER BY 1, 2
            ON CONFLICT (partition_id, week) DO UPDATE SET arrived = known.arrived + EXCLUDED.arrived
        )
    """  # noqa: S608  # names and numbers of our own
    clauses = [instances, *(_parts(TABLES[part]) for part in PARTS)]
    return f"WITH {', '.join(clauses)} SELECT FROM old_process_instance"


def _parts(table: Table) -> str:
    return f"""
        old_{table.name} AS (
            DELETE FROM runtime.{table.name} AS part USING old_process_instance AS whole
            WHERE part.partition_id = whole.partition_id AND part.tenant_id = whole.tenant_id
                AND part.process_instance_key = whole.process_instance_key
            RETURNING part.*, whole.bucket
        ), {_kept(table)}
    """  # noqa: S608  # names of our own


def _kept(table: Table) -> str:
    names = ", ".join(column.name for column in table.columns)
    return f"""
        new_{table.name} AS (
            INSERT INTO history.{table.name} (bucket, partition_id, {names})
            SELECT bucket, partition_id, {names} FROM old_{table.name}
        )
    """  # noqa: S608  # names of our own
