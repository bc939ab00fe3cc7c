"""Audit entries about changes of identity, written by the same statement as the change.

They belong to no partition: `partition_id` is 0, and the keys are numbers that rise with each commit.
"""

from collections.abc import Callable, Sequence
from datetime import UTC

from server.platform.audit import AuditNote
from server.platform.postgres.database import Database
from server.store.entities import AuditEntry, AuditResult
from server.store.postgres.buckets import create_buckets
from server.store.postgres.columns import TABLES, Column

NO_PARTITION = 0

_TABLE = TABLES[AuditEntry]
# The other columns are engine keys or reasons of rejections.
_WRITTEN = (
    *("tenant_id", "timestamp", "operation_type", "result", "actor_type", "actor_id"),
    *("entity_type", "entity_id", "related_entity_type", "related_entity_id", "request_id"),
)
_COLUMNS = tuple(_TABLE.columns[_TABLE.places[name]] for name in _WRITTEN)


class IdentityAudit:
    """Entries are not written until `is_open`, because nodes of older versions cannot read them."""

    def __init__(self, database: Database, is_open: Callable[[], bool]) -> None:
        self._database = database
        self._is_open = is_open

    @property
    def is_open(self) -> bool:
        return self._is_open()

    def clauses(self, first: int) -> str:
        """SQL that writes an entry if `changed` has a row; parameters start at number `first`.

        Writers lock the number as their last step, so the numbers rise in the order of commits.
        """
        values = [f"${number}::{column.type}" for number, column in enumerate(_COLUMNS, first)]
        timestamp = values[_WRITTEN.index("timestamp")]
        return f"""
            numbered AS (
                INSERT INTO gnomon.identity_audit AS t (number) SELECT 1 FROM changed
                ON CONFLICT (is_only) DO UPDATE SET number = t.number + 1 RETURNING number
            ), noted AS (
                INSERT INTO history.audit_entry (bucket, partition_id, {_TABLE.key.name}, {", ".join(_WRITTEN)})
                SELECT ({timestamp} AT TIME ZONE 'UTC')::date, {NO_PARTITION}, number, {", ".join(values)}
                FROM numbered
            )
        """  # noqa: S608  # names of our own

    def arguments(self, note: AuditNote) -> Sequence[object]:
        cells = _TABLE.cells(_entry(note))
        return [_value(column, cells[_TABLE.places[column.name]]) for column in _COLUMNS]

    async def make_room(self, note: AuditNote) -> None:
        """Create the missing table for the week of the entry."""
        await create_buckets(self._database, (note.timestamp.astimezone(UTC).date(),))


def _entry(note: AuditNote) -> AuditEntry:
    return AuditEntry(
        tenant_id=note.tenant_id,
        timestamp=note.timestamp,
        operation_type=note.operation_type,
        result=AuditResult.SUCCESS,
        actor_type=note.actor_type,
        actor_id=note.actor_id,
        entity_type=note.entity_type,
        entity_id=note.entity_id,
        related_entity_type=note.related_entity_type,
        related_entity_id=note.related_entity_id,
        request_id=note.request_id,
    )


def _value(column: Column, value: object) -> object:
    return None if value is None else column.to_value(value)
