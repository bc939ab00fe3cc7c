"""The changes of a batch as one insert, update or deletion of each row: within one statement a row can change once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from server.engine.keys import Key
from server.store.entities import AuditEntry, Entity
from server.store.ports import Change, Delete, Insert, Update
from server.store.postgres.columns import TABLES, Table

# Audit entries are no changes: a batch carries them apart, and the commit gives them their keys.
_TABLES: Mapping[type[Entity], Table] = {
    entity: table for entity, table in TABLES.items() if entity is not AuditEntry
}


@dataclass(slots=True)
class RowChanges:
    """Of one entity: new rows as their cells, and what changes in rows that were there before, or is gone."""

    table: Table
    inserts: dict[Key, list[object]] = field(default_factory=dict)
    updates: dict[Key, dict[str, object]] = field(default_factory=dict)
    deletions: dict[Key, None] = field(default_factory=dict)


class Coalesced(NamedTuple):
    """Row changes by entity, in one order always, and the tenants of process instances whose rows are to be deleted."""

    rows: Sequence[RowChanges]
    forgotten: Mapping[Key, str]


def coalesce(changes: Iterable[Change]) -> Coalesced:
    """Raises ValueError for what fits no table or is inserted twice."""
    coalesced: dict[type[Entity], RowChanges] = {}
    forgotten: dict[Key, str] = {}
    for change in changes:
        if isinstance(change, Insert):
            entity: type[Entity] = type(change.row)
            _insert(_of(entity, coalesced), change.row)
        elif isinstance(change, Update):
            _update(_of(change.entity, coalesced), change.key, change.values)
        elif isinstance(change, Delete):
            _delete(_of(change.entity, coalesced), change.key)
        else:
            forgotten[change.process_instance_key] = change.tenant_id
    return Coalesced([coalesced[entity] for entity in _TABLES if entity in coalesced], forgotten)


def _of(entity: type[Entity], coalesced: dict[type[Entity], RowChanges]) -> RowChanges:
    found = coalesced.get(entity)
    if found is None:
        if entity not in _TABLES:
            raise ValueError(f"{entity.__name__} is nothing that a batch changes")
        found = coalesced[entity] = RowChanges(_TABLES[entity])
    return found


def _insert(rows: RowChanges, row: Entity) -> None:
    key = rows.table.key_of(row)
    if key in rows.inserts or key in rows.deletions:
        raise ValueError(f"{type(row).__name__} {key} is inserted twice")
    rows.inserts[key] = list(rows.table.cells(row))


def _delete(rows: RowChanges, key: Key) -> None:
    """A row that the batch itself inserts never comes to be; no other row has its key."""
    rows.updates.pop(key, None)
    rows.inserts.pop(key, None)
    rows.deletions[key] = None


def _update(rows: RowChanges, key: Key, values: Mapping[str, object]) -> None:
    """An update of a row that the batch inserts later, or has deleted, changes nothing: there is no such row."""
    places = rows.table.places
    for name in values:
        if name not in places or name == rows.table.key.name:
            raise ValueError(f"{rows.table.entity.__name__} {key} has no {name} that can change")
    cells = rows.inserts.get(key)
    if cells is not None:
        for name, value in values.items():
            cells[places[name]] = value
    elif values and key not in rows.deletions:
        rows.updates.setdefault(key, {}).update(values)
