"""The clauses of a commit's statement: what each writes once the fence gave its row.

`{}` stands where a parameter of the clause goes; `$1` is the partition and `$3` the new position in all of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from server.store.entities import AuditEntry
from server.store.postgres.columns import TABLES, Column, Table

FENCE = """
UPDATE gnomon.partition SET position = $3, last_key = GREATEST(last_key, $4)
WHERE partition_id = $1 AND epoch = $2 AND position = $3 - 1
RETURNING partition_id"""


@dataclass(frozen=True, slots=True, eq=False)
class Clause:
    """Compared by identity, so that a statement is found by its clauses."""

    text: str

    @property
    def parameters(self) -> int:
        return self.text.count("{}")


@cache
def insert_of(table: Table) -> Clause:
    return Clause(f"""
INSERT INTO runtime.{table.name} (partition_id, {_names(table.columns)})
SELECT fence.partition_id, {_values(table.columns)}
FROM fence, unnest({_arrays(table.columns)}) AS r ({_names(table.columns)})""")  # noqa: S608  # names of our own


def update_of(table: Table, columns: Sequence[Column]) -> Clause:
    """Bit n of a row's mask is set when the n-th of the columns changes."""
    assignments = ", ".join(
        f"{column.name} = CASE WHEN r.mask & {1 << bit} <> 0 THEN {column.value} ELSE t.{column.name} END"
        for bit, column in enumerate(columns)
    )
    items = (table.key, *columns)
    return Clause(f"""
UPDATE runtime.{table.name} AS t SET {assignments}
FROM fence, unnest({{}}::text::bigint[], {_arrays(items)}) AS r (mask, {_names(items)})
WHERE t.partition_id = fence.partition_id AND t.{table.key.name} = r.{table.key.name}""")  # noqa: S608  # names of our own


PUT_DOCUMENTS = Clause("""
INSERT INTO gnomon.instance_document (partition_id, process_instance_key, content)
SELECT fence.partition_id, r.key, r.content
FROM fence, unnest({}::text::bigint[], {}::bytea[]) AS r (key, content)
ON CONFLICT (partition_id, process_instance_key) DO UPDATE SET content = EXCLUDED.content""")

END_DOCUMENTS = Clause("""
DELETE FROM gnomon.instance_document AS t
USING fence, unnest({}::text::bigint[]) AS r (key)
WHERE t.partition_id = fence.partition_id AND t.process_instance_key = r.key""")

PUT_DEFINITIONS = Clause("""
INSERT INTO gnomon.definition_document (partition_id, process_definition_key, content)
SELECT fence.partition_id, r.key, r.content
FROM fence, unnest({}::text::bigint[], {}::bytea[]) AS r (key, content)
ON CONFLICT (partition_id, process_definition_key) DO UPDATE SET content = EXCLUDED.content""")

KEEP_ANSWERS = Clause("""
INSERT INTO gnomon.idempotency (partition_id, tenant_id, idempotency_key, request_hash, answer, created_at)
SELECT fence.partition_id, r.*
FROM fence, unnest({}::text::text[], {}::text::text[], {}::bytea[], {}::bytea[], {}::text::timestamptz[]) AS r
ON CONFLICT DO NOTHING""")

# The numbers of commands and the keys of audit entries leave twelve bits for their place in the batch.
PLACE_BITS = 12

SEND = Clause(f"""
INSERT INTO gnomon.outbox (target, source, number, command)
SELECT r.target, fence.partition_id, ($3 << {PLACE_BITS}) + r.place, r.command
FROM fence, unnest({{}}::text::smallint[], {{}}::text::bigint[], {{}}::bytea[]) AS r (target, place, command)""")  # noqa: S608  # names of our own

BROADCAST = Clause(f"""
INSERT INTO gnomon.outbox (target, source, number, command)
SELECT other.partition_id, fence.partition_id, ($3 << {PLACE_BITS}) + r.place, r.command
FROM fence, unnest({{}}::text::bigint[], {{}}::bytea[]) AS r (place, command), gnomon.partition AS other
WHERE other.partition_id <> fence.partition_id""")  # noqa: S608  # names of our own

TAKE = Clause("""
DELETE FROM gnomon.outbox AS t
USING fence, unnest({}::text::smallint[], {}::text::bigint[]) AS r (source, number)
WHERE t.target = fence.partition_id AND t.source = r.source AND t.number = r.number""")

COUNT_INSTANCES = Clause("""
INSERT INTO gnomon.active_instances AS t (partition_id, tenant_id, count)
SELECT fence.partition_id, r.tenant_id, r.count
FROM fence, unnest({}::text::text[], {}::text::bigint[]) AS r (tenant_id, count)
ON CONFLICT (partition_id, tenant_id) DO UPDATE SET count = t.count + EXCLUDED.count""")


def _names(columns: Iterable[Column]) -> str:
    return ", ".join(column.name for column in columns)


def _values(columns: Iterable[Column]) -> str:
    return ", ".join(column.value for column in columns)


def _arrays(columns: Iterable[Column]) -> str:
    return ", ".join(f"{{}}::text::{column.item_type}[]" for column in columns)


_AUDIT = TABLES[AuditEntry].columns

AUDIT = Clause(f"""
INSERT INTO history.audit_entry (bucket, partition_id, {_names(_AUDIT)})
SELECT (r.timestamp AT TIME ZONE 'UTC')::date, fence.partition_id, {_values(_AUDIT)}
FROM fence, unnest({_arrays(_AUDIT)}) AS r ({_names(_AUDIT)})""")  # noqa: S608  # names of our own
