"""The rows of a tenant that is being removed: deleted in statements that are bounded in rows and octets.

A statement deletes rows of one table and one partition. In a week of history it locks the row of the week's arrivals
first, as the other deletions do, and counts as one of them, so that cached numbers of matches are counted anew.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date, timedelta

import asyncpg

from server.engine.keys import Key
from server.platform.postgres.database import Database
from server.store.entities import AuditEntry, ProcessInstance
from server.store.ports import MOST_COUNTED, PartitionId, RemovalProgress
from server.store.postgres.buckets import Bucket
from server.store.postgres.columns import BUCKETED, TABLES, Table
from server.store.postgres.identity_audit import NO_PARTITION

ROWS_AT_ONCE = 500
OCTETS_AT_ONCE = 4 << 20

FIRST = PartitionId(1)
_INSTANCE, _AUDIT = TABLES[ProcessInstance], TABLES[AuditEntry]
_LIVE = tuple(table for table in TABLES.values() if table is not _AUDIT)
_HISTORY = tuple(TABLES[entity] for entity in TABLES if entity in BUCKETED)
# Tables of partitions beside the entities: the rest of their primary keys, and SQL for the octets of a row.
_OWN = {
    "gnomon.idempotency": ("idempotency_key", "length(answer)"),
    "gnomon.history_deletion": ("process_instance_key", "0"),
    "gnomon.variable_erasure": ("erasure_key", "0"),
    "gnomon.quota_reservation": ("epoch, number", "0"),
    "gnomon.active_instances": ("tenant_id", "0"),
}
# Tables without a partition; the first partition deletes their rows.
_COMMON = {
    "gnomon.stored_document": ("document_id", "size"),
    "gnomon.stored_document_usage": ("tenant_id", "0"),
    "gnomon.quota": ("tenant_id", "0"),
}


class PostgresTenantRows:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def active(self, partition_id: PartitionId, tenant_id: str) -> Sequence[Key]:
        text = """
            SELECT process_instance_key FROM runtime.process_instance
            WHERE tenant_id = $1 AND partition_id = $2 AND state = 'ACTIVE' ORDER BY process_instance_key
        """
        return [Key(row[0]) for row in await self._database.fetch(text, tenant_id, partition_id)]

    async def delete(self, partition_id: PartitionId, tenant_id: str, until: float) -> bool:
        clock = asyncio.get_running_loop().time
        for statement, arguments in _statements(partition_id, tenant_id):
            while (await self._database.fetch(statement, *arguments))[0][0]:
                if clock() > until:
                    return False
        tables = [(table, partition_id) for table in _HISTORY]
        if partition_id == FIRST:
            tables.append((_AUDIT, PartitionId(NO_PARTITION)))
        for table, owner in tables:
            while (begin := await self._first_week(table, owner, tenant_id)) is not None:
                await self._delete_in_week(table, begin, owner, tenant_id)
                if clock() > until:
                    return False
        return True

    async def _first_week(self, table: Table, partition_id: PartitionId, tenant_id: str) -> date | None:
        """The Monday of a week that has rows of the tenant."""
        text = f"""
            SELECT bucket FROM history.{table.name} WHERE tenant_id = $1 AND partition_id = $2 LIMIT 1
        """  # noqa: S608  # names of our own
        found = await self._database.fetch(text, tenant_id, partition_id)
        return _monday(found[0][0]) if found else None

    async def _delete_in_week(
        self, table: Table, begin: date, partition_id: PartitionId, tenant_id: str
    ) -> None:
        dropped = "number" if table is _INSTANCE else "0"
        text = f"""
            WITH locked AS MATERIALIZED (
                SELECT FROM history.arrivals WHERE partition_id = $3 AND week = $4 FOR UPDATE
            ), {_some(f"history.{Bucket(table.name, begin).name}", f"{table.key.name}, bucket", _octets(table), "(SELECT count(*) FROM locked) >= 0")}
            , counted AS (
                INSERT INTO history.arrivals AS known (partition_id, week, arrived, dropped, deletions)
                SELECT $3, $4, 0, {dropped}, 1 FROM (SELECT count(*) AS number FROM gone) AS total
                ON CONFLICT (partition_id, week) DO UPDATE
                SET dropped = known.dropped + EXCLUDED.dropped, deletions = known.deletions + 1
            )
            SELECT count(*) FROM gone
        """  # noqa: S608  # names of our own
        counter = partition_id if partition_id != NO_PARTITION else FIRST
        # Retention may have dropped the week.
        with suppress(asyncpg.UndefinedTableError):
            await self._database.fetch(text, tenant_id, partition_id, counter, begin)

    async def left(self, tenant_id: str) -> int:
        tables = [
            *(f"runtime.{table.name}" for table in _LIVE),
            *(f"history.{table.name}" for table in _HISTORY),
            *("gnomon.idempotency", "gnomon.stored_document"),
        ]
        counts = " + ".join(
            f"(SELECT count(*) FROM (SELECT FROM {table} WHERE tenant_id = $1 LIMIT {MOST_COUNTED}) AS chosen)"  # noqa: S608  # ours
            for table in tables
        )
        return int((await self._database.fetch(f"SELECT {counts}", tenant_id))[0][0])

    async def note_clean(self, partition_id: PartitionId, tenant_id: str, number: int) -> None:
        text = """
            UPDATE gnomon.removed_tenant SET is_clean = true
            WHERE partition_id = $1 AND tenant_id = $2 AND number = $3
        """
        await self._database.fetch(text, partition_id, tenant_id, number)

    async def progress(self, tenant_id: str, number: int) -> RemovalProgress:
        text = """
            SELECT count(*) AS partitions, count(mark.partition_id) AS marked,
                count(mark.partition_id) FILTER (WHERE mark.is_clean) AS clean
            FROM gnomon.partition LEFT JOIN gnomon.removed_tenant AS mark
                ON mark.partition_id = partition.partition_id AND mark.tenant_id = $1 AND mark.number = $2
        """
        (found,) = await self._database.fetch(text, tenant_id, number)
        return RemovalProgress(**found)


def _statements(partition_id: PartitionId, tenant_id: str) -> Iterator[tuple[str, Sequence[object]]]:
    for table in _LIVE:
        yield _deletion(f"runtime.{table.name}", table.key.name, _octets(table)), (tenant_id, partition_id)
    for name, (key, octets) in _OWN.items():
        yield _deletion(name, key, octets), (tenant_id, partition_id)
    if partition_id == FIRST:
        for name, (key, octets) in _COMMON.items():
            yield _deletion(name, key, octets, has_partition=False), (tenant_id,)


def _deletion(table: str, key: str, octets: str, *, has_partition: bool = True) -> str:
    """SQL that deletes some rows of a table, and returns their number."""
    return f"WITH {_some(table, key, octets, has_partition=has_partition)} SELECT count(*) FROM gone"  # noqa: S608  # ours


def _some(table: str, key: str, octets: str, condition: str = "true", *, has_partition: bool = True) -> str:
    """Clauses that delete the first rows of a tenant: `$1` is the tenant, `$2` the partition."""
    own = "tenant_id = $1 AND partition_id = $2" if has_partition else "tenant_id = $1"
    return f"""
        chosen AS MATERIALIZED (
            SELECT {key}, {octets} AS octets FROM {table} WHERE {own} AND {condition}
            ORDER BY {key} LIMIT {ROWS_AT_ONCE}
        ), bounded AS MATERIALIZED (
            SELECT {key} FROM (SELECT {key}, sum(octets) OVER (ORDER BY {key}) - octets AS before FROM chosen) AS summed
            WHERE before < {OCTETS_AT_ONCE}
        ), gone AS (
            DELETE FROM {table} WHERE {own} AND ({key}) IN (SELECT {key} FROM bounded) RETURNING 1
        )
    """  # noqa: S608  # names of our own


def _octets(table: Table) -> str:
    """SQL for the stored octets of a row, without reading values that are stored apart."""
    texts = [column.name for column in table.columns if column.type in {"text", "jsonb"}]
    return " + ".join(f"coalesce(pg_column_size({name}), 0)" for name in texts)


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())
