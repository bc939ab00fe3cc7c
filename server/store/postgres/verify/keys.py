"""Statements that find keys outside their partition's range.

Each row has a key of the partition that stores it. Reading the lowest and highest key of each partition is
sufficient, and fast for any number of rows.
"""

from collections.abc import Iterable
from typing import NamedTuple

from server.engine.keys import COUNTER_BITS
from server.engine.pages import Kind
from server.store.entities import AuditEntry
from server.store.postgres.clauses import PLACE_BITS
from server.store.postgres.columns import BUCKETED, TABLES
from server.store.postgres.identity_audit import NO_PARTITION


class Keyed(NamedTuple):
    """A relation with an index that begins with the partition, the columns of the condition, and this key."""

    relation: str
    key: str
    condition: str = "true"


LIVE = tuple(
    Keyed(f"runtime.{table.name}", table.key.name)
    for entity, table in TABLES.items()
    if entity is not AuditEntry
)
ENDED = tuple(
    Keyed(f"history.{table.name}", table.key.name)
    for entity, table in TABLES.items()
    if entity in BUCKETED and entity is not AuditEntry
)
# The home partition of a message stores subscriptions with keys of their process instances' partitions.
_OF_OTHERS = {Kind.MESSAGE_SUBSCRIPTION}
PACKED = (
    *(Keyed("gnomon.stored_page", "key", f"kind = {kind}") for kind in Kind if kind not in _OF_OTHERS),
    Keyed("gnomon.definition_document", "process_definition_key"),
)
AUDITED = Keyed("history.audit_entry", "audit_entry_key")

_COUNTED = (*LIVE, *ENDED, *PACKED)
_FIRST = f"(p.partition_id::bigint << {COUNTER_BITS})"
_LAST = f"({_FIRST} + {(1 << COUNTER_BITS) - 1})"


def _union(texts: Iterable[str]) -> str:
    return " UNION ALL ".join(texts)


def _lowest(table: Keyed) -> str:
    return f"(SELECT min({table.key}) FROM {table.relation} WHERE partition_id = p.partition_id AND {table.condition})"  # noqa: S608  # names of our own


def _highest(table: Keyed) -> str:
    return f"(SELECT max({table.key}) FROM {table.relation} WHERE partition_id = p.partition_id AND {table.condition})"  # noqa: S608  # names of our own


def _beyond(table: Keyed, last: str) -> str:
    return f"""
        SELECT '{table.relation} ' || {_highest(table)} FROM gnomon.partition AS p WHERE {_highest(table)} > {last}
    """  # noqa: S608  # names of our own


def _others(table: Keyed) -> str:
    """Audit entries about identity belong to no partition."""
    return f" UNION ALL SELECT {NO_PARTITION}" if table is AUDITED else ""


UNKNOWN_PARTITIONS = _union(
    f"""
    SELECT DISTINCT '{table.relation} of partition ' || r.partition_id
    FROM (SELECT min(partition_id) FROM {table.relation} UNION SELECT max(partition_id) FROM {table.relation})
        AS r (partition_id)
    WHERE r.partition_id NOT IN (SELECT partition_id FROM gnomon.partition{_others(table)})
    """  # noqa: S608  # names of our own
    for table in (*_COUNTED, AUDITED)
)

OF_OTHER_PARTITIONS = _union(
    f"""
    SELECT DISTINCT '{table.relation} ' || r.key FROM gnomon.partition AS p,
        LATERAL (VALUES ({_lowest(table)}), ({_highest(table)})) AS r (key)
    WHERE r.key NOT BETWEEN {_FIRST} AND {_LAST}
    """  # noqa: S608  # names of our own
    for table in (*_COUNTED, AUDITED)
)

NOT_GIVEN_YET = _union(_beyond(table, "p.last_key") for table in _COUNTED)

AUDITED_LATER = f"""
    {_beyond(AUDITED, f"{_FIRST} + ((p.position + 1) << {PLACE_BITS}) - 1")}
    UNION ALL
    SELECT '{AUDITED.relation} ' || max({AUDITED.key}) FROM {AUDITED.relation}
    WHERE partition_id = {NO_PARTITION} HAVING max({AUDITED.key}) > (SELECT coalesce(max(number), 0) FROM gnomon.identity_audit)
"""  # noqa: S608  # names of our own

GIVEN_TWICE = f"""
    SELECT 'key ' || key FROM ({_union(f"SELECT {table.key} AS key FROM {table.relation}" for table in LIVE)})
    AS live GROUP BY key HAVING count(*) > 1
"""  # noqa: S608  # names of our own

LIVE_AND_ENDED = _union(
    f"""
    SELECT '{ended.relation} ' || {ended.key}
    FROM runtime.{ended.relation.removeprefix("history.")} JOIN {ended.relation} USING (partition_id, {ended.key})
    """  # noqa: S608  # names of our own
    for ended in ENDED
)
