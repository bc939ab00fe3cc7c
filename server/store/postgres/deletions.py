"""Deletes the rows of process instances that callers deleted, in bounded steps from the tables of their week.

Commits note the deletions in `gnomon.history_deletion`, where they stay until no row is left, so another
process can continue where one stopped. In each week one process deletes at a time, by locking the row of the
week's arrivals.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby

import asyncpg

from server.engine.keys import Key
from server.platform.postgres.database import Database
from server.store.entities import DecisionInstance, ProcessInstance
from server.store.ports import PartitionId
from server.store.postgres.buckets import Bucket
from server.store.postgres.columns import TABLES
from server.store.postgres.history import PARTS, History

INSTANCES_AT_ONCE = 200
ROWS_AT_ONCE = 500
"""Most rows of one entity that a step deletes."""

_INSTANCE = TABLES[ProcessInstance].name
_DECISION = TABLES[DecisionInstance].name


@dataclass(frozen=True, slots=True)
class _Group:
    """Process instances of one tenant that ended in the week that begins on this Monday."""

    begin: date
    tenant_id: str
    keys: Sequence[Key]

    def table(self, name: str) -> str:
        return f"history.{Bucket(name, self.begin).name}"


class Deletions:
    """The deletions of one partition. Every method raises Unavailable."""

    def __init__(self, database: Database, history: History, partition_id: PartitionId) -> None:
        self._database = database
        self._history = history
        self._partition_id = partition_id

    async def hide(self) -> int:
        """Delete the process instance rows of the next noted deletions; returns the number of noted ones."""
        text = """
            SELECT process_instance_key FROM gnomon.history_deletion
            WHERE partition_id = $1 AND bucket IS NULL LIMIT $2
        """
        noted = await self._database.fetch(text, self._partition_id, INSTANCES_AT_ONCE)
        keys = [Key(row[0]) for row in noted]
        if keys:
            # Afterwards all of their rows are in history, whichever process moved them.
            await self._history.move(self._partition_id, keys)
            found = await self._found(keys)
            for group in found:
                await self._hide(group)
            known = {key for group in found for key in group.keys}
            await self._forget([key for key in keys if key not in known], "bucket IS NULL")
        return len(keys)

    async def delete_some(self) -> bool:
        """Delete some rows of hidden process instances; returns whether there were any."""
        text = """
            SELECT process_instance_key, tenant_id, bucket FROM gnomon.history_deletion
            WHERE partition_id = $1 AND bucket IS NOT NULL ORDER BY process_instance_key LIMIT $2
        """
        group = next(_groups(await self._database.fetch(text, self._partition_id, INSTANCES_AT_ONCE)), None)
        if group is None:
            return False
        if await self._delete_rows(group) < ROWS_AT_ONCE:
            await self._forget(group.keys, "bucket IS NOT NULL")
        return True

    async def _found(self, keys: Sequence[Key]) -> Sequence[_Group]:
        text = """
            SELECT process_instance_key, tenant_id, whole.bucket
            FROM history.process_instance AS whole
            JOIN gnomon.history_deletion USING (partition_id, process_instance_key, tenant_id)
            WHERE partition_id = $1 AND process_instance_key = ANY($2::bigint[])
        """
        return list(_groups(await self._database.fetch(text, self._partition_id, keys)))

    async def _hide(self, group: _Group) -> None:
        """Delete the rows of process instances; if retention has dropped the week, nothing is left to delete."""
        text = f"""
            WITH locked AS MATERIALIZED (
                SELECT FROM history.arrivals WHERE partition_id = $1 AND week = $4 FOR UPDATE
            ), gone AS (
                DELETE FROM {group.table(_INSTANCE)}
                WHERE partition_id = $1 AND tenant_id = $2 AND process_instance_key = ANY($3::bigint[])
                    AND EXISTS (SELECT FROM locked)
                RETURNING process_instance_key, bucket
            ), noted AS (
                UPDATE gnomon.history_deletion AS deletion SET bucket = gone.bucket FROM gone
                WHERE deletion.partition_id = $1 AND deletion.process_instance_key = gone.process_instance_key
            )
            UPDATE history.arrivals SET dropped = dropped + (SELECT count(*) FROM gone), deletions = deletions + 1
            WHERE partition_id = $1 AND week = $4
        """  # noqa: S608  # names of our own
        try:
            await self._database.fetch(text, self._partition_id, group.tenant_id, group.keys, group.begin)
        except asyncpg.UndefinedTableError:
            await self._forget(group.keys, "bucket IS NULL")

    async def _delete_rows(self, group: _Group) -> int:
        """Delete up to a number of rows of each entity; returns the largest number found for one entity.

        If several processes find the same rows, one deletes them, so found rows are counted instead of
        deleted ones.
        """
        tables = {name: group.table(name) for name in (TABLES[part].name for part in PARTS)}
        steps = [_deletion(name, table, "bucket") for name, table in tables.items()]
        steps.append(_deletion(_DECISION, f"runtime.{_DECISION}", "partition_id"))
        counts = ", ".join(f"(SELECT count(*) FROM some_{name})" for name in (*tables, _DECISION))  # noqa: S608  # ours
        text = f"""
            WITH locked AS (
                UPDATE history.arrivals SET deletions = deletions + 1 WHERE partition_id = $1 AND week = $4 RETURNING 1
            ), {", ".join(steps)}
            SELECT greatest({counts})
        """  # noqa: S608  # names of our own
        arguments = (self._partition_id, group.tenant_id, group.keys, group.begin)
        try:
            (found,) = await self._database.fetch(text, *arguments)
        except asyncpg.UndefinedTableError:
            return 0
        return int(found[0])

    async def _forget(self, keys: Sequence[Key], condition: str) -> None:
        text = f"""
            DELETE FROM gnomon.history_deletion
            WHERE partition_id = $1 AND process_instance_key = ANY($2::bigint[]) AND {condition}
        """  # noqa: S608  # conditions of our own
        if keys:
            await self._database.fetch(text, self._partition_id, keys)


def _groups(rows: Iterable[asyncpg.Record]) -> Iterator[_Group]:
    """Groups of rows that have a key, a tenant and a bucket."""
    placed = [(_monday(bucket), tenant_id, Key(key)) for key, tenant_id, bucket in rows]
    for (begin, tenant_id), some in groupby(sorted(placed), lambda each: each[:2]):
        yield _Group(begin, tenant_id, [key for _, _, key in some])


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _deletion(name: str, table: str, also: str) -> str:
    """SQL that deletes rows of one table; `also` is a further column of its primary key."""
    return f"""
        some_{name} AS (
            SELECT {name}_key AS key, {also} AS also FROM {table}
            WHERE partition_id = $1 AND tenant_id = $2 AND process_instance_key = ANY($3::bigint[])
                AND EXISTS (SELECT FROM locked)
            LIMIT {ROWS_AT_ONCE}
        ), gone_{name} AS (
            DELETE FROM {table} AS part USING some_{name} AS found
            WHERE part.partition_id = $1 AND part.{name}_key = found.key AND part.{also} = found.also
        )
    """  # noqa: S608  # names of our own
