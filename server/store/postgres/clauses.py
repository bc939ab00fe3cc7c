"""The clauses of a commit's statement, each of which writes only if the fence returned its row.

In all clauses, `$1` is the partition, `$2` its epoch, `$3` its position before the commit, `$5` its position
after it, `$6` the duration of its lease, and `{n}` the n-th parameter of the clause. The keys of changed rows are also passed as a condition
of the scan, so that it reads just these rows whatever statistics the planner has.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

from server.store.entities import AuditEntry
from server.store.postgres.columns import TABLES, Column, Table

MOST_VARIANTS = 256
"""Most cached clauses of a kind, which differ by their columns; a busy process uses a handful for each table."""

_PARAMETER = re.compile(r"\{(\d+)\}")

FENCE = """
UPDATE gnomon.partition SET position = $5, last_key = GREATEST(last_key, $4),
    expires_at = GREATEST(expires_at, clock_timestamp() + $6::float8 * interval '1 second')
WHERE partition_id = $1 AND epoch = $2 AND position = $3
RETURNING partition_id"""

SHARED_PARAMETERS = 6


class Clause:
    """A clause of a statement; compared by identity, so that statements can be cached by their clauses."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.parameters = len(set(_PARAMETER.findall(text)))


class ColumnValues:
    """SQL for the values of columns: each has a parameter for all rows, and a separate column one more, an array.

    `expressions` has the value of each column, `arrays` and `names` are those of the separate columns.
    """

    def __init__(self, columns: Iterable[Column], separate: frozenset[Column], first: int = 0) -> None:
        self.expressions: list[str] = []
        self.arrays: list[str] = []
        self.names: list[str] = []
        place = first
        for column in columns:
            shared = f"{{{place}}}"
            if column in separate:
                self.expressions.append(column.value("r", shared))
                self.arrays.append(f"{{{place + 1}}}::text::{column.item_type}[]")
                self.names.append(column.name)
                place += 1
            else:
                self.expressions.append(f"{shared}::{column.type}")
            place += 1


@lru_cache(MOST_VARIANTS)
def insert_of(table: Table, separate: frozenset[Column]) -> Clause:
    """Add rows to the table of live ones."""
    values = ColumnValues(table.columns, separate)
    return _insert(f"runtime.{table.name}", {"partition_id": "$1"}, table, values)


@lru_cache(MOST_VARIANTS)
def audit_of(separate: frozenset[Column]) -> Clause:
    """Add audit entries to their buckets."""
    table = TABLES[AuditEntry]
    values = ColumnValues(table.columns, separate)
    day = f"({values.expressions[table.places['timestamp']]} AT TIME ZONE 'UTC')::date"
    return _insert("history.audit_entry", {"bucket": day, "partition_id": "$1"}, table, values)


def _insert(target: str, leading: Mapping[str, str], table: Table, values: ColumnValues) -> Clause:
    """Add rows to the target, with SQL for leading columns, which the entity does not have."""
    names = [*leading, *(column.name for column in table.columns)]
    return Clause(f"""
INSERT INTO {target} ({", ".join(names)})
SELECT {", ".join([*leading.values(), *values.expressions])}
FROM unnest({", ".join(values.arrays)}) AS r ({", ".join(values.names)})
WHERE EXISTS (SELECT FROM fence)""")  # noqa: S608  # names of our own


@lru_cache(MOST_VARIANTS)
def update_of(table: Table, columns: tuple[Column, ...], separate: frozenset[Column]) -> Clause:
    """Parameters: the keys, a mask for each row with bit n set if the n-th column changes, and the columns."""
    values = ColumnValues(columns, separate, first=2)
    assignments = ", ".join(
        f"{column.name} = CASE WHEN r.mask & {1 << bit} <> 0 THEN {value} ELSE t.{column.name} END"
        for bit, (column, value) in enumerate(zip(columns, values.expressions, strict=True))
    )
    arrays = ", ".join(["{0}::text::bigint[]", "{1}::text::bigint[]", *values.arrays])
    return Clause(f"""
UPDATE runtime.{table.name} AS t SET {assignments}
FROM unnest({arrays}) AS r ({", ".join(["key", "mask", *values.names])})
WHERE t.partition_id = $1 AND t.{table.key.name} = ANY({{0}}::text::bigint[]) AND t.{table.key.name} = r.key
AND EXISTS (SELECT FROM fence)""")  # noqa: S608  # names of our own


@cache
def delete_of(table: Table) -> Clause:
    """The only parameter is the array of keys."""
    return Clause(f"""
DELETE FROM runtime.{table.name}
WHERE partition_id = $1 AND {table.key.name} = ANY({{0}}::text::bigint[]) AND EXISTS (SELECT FROM fence)""")  # noqa: S608  # names of our own


# A process instance may be deleted again while its rows are still being deleted.
FORGET = Clause("""
INSERT INTO gnomon.history_deletion (partition_id, process_instance_key, tenant_id)
SELECT $1, r.key, r.tenant_id FROM unnest({0}::text::bigint[], {1}::text::text[]) AS r (key, tenant_id)
WHERE EXISTS (SELECT FROM fence)
ON CONFLICT (partition_id, process_instance_key) DO NOTHING""")

ERASE = Clause("""
INSERT INTO gnomon.variable_erasure (partition_id, erasure_key, tenant_id, process_instance_key, names, moment)
SELECT $1, r.erasure_key, r.tenant_id, r.process_instance_key, r.names, r.moment
FROM unnest({0}::text::bigint[], {1}::text::text[], {2}::text::bigint[], {3}::text::text[], {4}::text::timestamptz[])
    AS r (erasure_key, tenant_id, process_instance_key, names, moment)
WHERE EXISTS (SELECT FROM fence)""")

PUT_PAGES = Clause("""
INSERT INTO gnomon.document (partition_id, kind, key, page, format, content)
SELECT $1, r.kind, r.key, r.page, r.format, r.content
FROM unnest({0}::text::smallint[], {1}::text::bigint[], {2}::text::bigint[], {3}::text::smallint[], {4}::bytea[])
    AS r (kind, key, page, format, content)
WHERE EXISTS (SELECT FROM fence)
ON CONFLICT (partition_id, kind, key, page) DO UPDATE SET format = EXCLUDED.format, content = EXCLUDED.content""")

PUT_IN_FIRST_FORMAT = Clause("""
INSERT INTO gnomon.instance_document (partition_id, process_instance_key, content)
SELECT $1, r.key, r.content FROM unnest({0}::text::bigint[], {1}::bytea[]) AS r (key, content)
WHERE EXISTS (SELECT FROM fence)
ON CONFLICT (partition_id, process_instance_key) DO UPDATE SET content = EXCLUDED.content""")

# A process instance is stored in one format: in the first until it ends or is written in a later one.
END_FIRST_FORMAT = Clause("""
DELETE FROM gnomon.instance_document
WHERE partition_id = $1 AND process_instance_key = ANY({0}::text::bigint[]) AND EXISTS (SELECT FROM fence)""")

DROP_PAGES = Clause("""
DELETE FROM gnomon.document AS t
USING unnest({0}::text::smallint[], {1}::text::bigint[], {2}::text::bigint[]) AS r (kind, key, page)
WHERE t.partition_id = $1 AND t.kind = ANY({0}::text::smallint[]) AND t.key = ANY({1}::text::bigint[])
AND t.page = ANY({2}::text::bigint[]) AND t.kind = r.kind AND t.key = r.key AND t.page = r.page
AND EXISTS (SELECT FROM fence)""")

END_DOCUMENTS = Clause("""
DELETE FROM gnomon.document AS t
USING unnest({0}::text::smallint[], {1}::text::bigint[]) AS r (kind, key)
WHERE t.partition_id = $1 AND t.kind = ANY({0}::text::smallint[]) AND t.key = ANY({1}::text::bigint[])
AND t.kind = r.kind AND t.key = r.key AND EXISTS (SELECT FROM fence)""")

PUT_DEFINITIONS = Clause("""
INSERT INTO gnomon.definition_document (partition_id, process_definition_key, content)
SELECT $1, r.key, r.content FROM unnest({0}::text::bigint[], {1}::bytea[]) AS r (key, content)
WHERE EXISTS (SELECT FROM fence)
ON CONFLICT (partition_id, process_definition_key) DO UPDATE SET content = EXCLUDED.content""")

DROP_DEFINITIONS = Clause("""
DELETE FROM gnomon.definition_document
WHERE partition_id = $1 AND process_definition_key = ANY({0}::text::bigint[]) AND EXISTS (SELECT FROM fence)""")

KEEP_ANSWERS = Clause("""
INSERT INTO gnomon.idempotency (partition_id, tenant_id, idempotency_key, request_hash, answer, created_at)
SELECT $1, r.*
FROM unnest({0}::text::text[], {1}::text::text[], {2}::bytea[], {3}::bytea[], {4}::text::timestamptz[]) AS r
WHERE EXISTS (SELECT FROM fence)
ON CONFLICT DO NOTHING""")

# Numbers of commands and keys of audit entries consist of a position and a place of this many bits. A batch
# with more of either than there are places takes several positions, so that numbers and keys are never
# reused.
PLACE_BITS = 12
MOST_PLACES = 1 << PLACE_BITS

SEND = Clause(f"""
INSERT INTO gnomon.outbox (target, source, number, command, format)
SELECT r.target, $1, (($3 + 1) << {PLACE_BITS}) + r.place, r.command, r.format
FROM unnest({{0}}::text::smallint[], {{1}}::text::bigint[], {{2}}::bytea[], {{3}}::text::smallint[])
    AS r (target, place, command, format)
WHERE EXISTS (SELECT FROM fence)""")  # noqa: S608  # names of our own

BROADCAST = Clause(f"""
INSERT INTO gnomon.outbox (target, source, number, command, format)
SELECT other.partition_id, $1, (($3 + 1) << {PLACE_BITS}) + r.place, r.command, r.format
FROM unnest({{0}}::text::bigint[], {{1}}::bytea[], {{2}}::text::smallint[]) AS r (place, command, format),
    gnomon.partition AS other
WHERE other.partition_id <> $1 AND EXISTS (SELECT FROM fence)""")  # noqa: S608  # names of our own

TAKE = Clause("""
DELETE FROM gnomon.outbox AS t
USING unnest({0}::text::smallint[], {1}::text::bigint[]) AS r (source, number)
WHERE t.target = $1 AND t.source = ANY({0}::text::smallint[]) AND t.number = ANY({1}::text::bigint[])
AND t.source = r.source AND t.number = r.number AND EXISTS (SELECT FROM fence)""")

COUNT_INSTANCES = Clause("""
INSERT INTO gnomon.active_instances AS t (partition_id, tenant_id, count)
SELECT $1, r.tenant_id, r.count FROM unnest({0}::text::text[], {1}::text::bigint[]) AS r (tenant_id, count)
WHERE EXISTS (SELECT FROM fence)
ON CONFLICT (partition_id, tenant_id) DO UPDATE SET count = t.count + EXCLUDED.count""")

SETTLE_RESERVATIONS = Clause("""
DELETE FROM gnomon.quota_reservation
WHERE partition_id = $1 AND epoch = $2 AND number = ANY({0}::text::bigint[]) AND EXISTS (SELECT FROM fence)""")

MARK_TENANTS = Clause("""
INSERT INTO gnomon.removed_tenant (partition_id, tenant_id, number)
SELECT $1, r.tenant_id, r.number FROM unnest({0}::text::text[], {1}::text::bigint[]) AS r (tenant_id, number)
WHERE EXISTS (SELECT FROM fence)
ON CONFLICT (partition_id, tenant_id) DO UPDATE SET number = EXCLUDED.number, is_clean = false""")

RELEASE_TENANTS = Clause("""
DELETE FROM gnomon.removed_tenant
WHERE partition_id = $1 AND tenant_id = ANY({0}::text::text[]) AND EXISTS (SELECT FROM fence)""")


def statement(clauses: Iterable[Clause]) -> str:
    """One statement of all clauses, with the shared parameters first; it returns one row if the fence did."""
    named = [f"fence AS ({FENCE}\n)"]
    first = SHARED_PARAMETERS + 1
    for number, clause in enumerate(clauses, start=1):
        text = clause.text.format(*(f"${first + place}" for place in range(clause.parameters)))
        named.append(f"clause_{number} AS ({text}\n)")
        first += clause.parameters
    return f"WITH {', '.join(named)}\nSELECT partition_id FROM fence"
