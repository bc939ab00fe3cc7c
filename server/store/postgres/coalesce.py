"""Merges the changes of a batch into one insert, update or deletion per row, because a statement can change a row once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from server.engine.keys import Key
from server.store.entities import AuditEntry, Entity
from server.store.ports import Change, Delete, Erase, Insert, Update
from server.store.postgres.columns import TABLES, Table

# Audit entries are separate from the changes of a batch; the commit assigns their keys.
_TABLES: Mapping[type[Entity], Table] = {
    entity: table for entity, table in TABLES.items() if entity is not AuditEntry
}


@dataclass(slots=True)
class RowChanges:
    """The changes of one entity: cells of new rows, changed values of existing rows, and deleted rows."""

    table: Table
    inserts: dict[Key, list[object]] = field(default_factory=dict)
    updates: dict[Key, dict[str, object]] = field(default_factory=dict)
    deletions: dict[Key, None] = field(default_factory=dict)


class Coalesced(NamedTuple):
    """Row changes by entity, always in the same order, the tenants of process instances whose rows are to be deleted, and erasures."""

    rows: Sequence[RowChanges]
    forgotten: Mapping[Key, str]
    erased: Sequence[Erase]


def coalesce(changes: Iterable[Change]) -> Coalesced:
    """Merge the changes; raises ValueError for a change that fits no table and for a duplicate insert."""
    coalesced: dict[type[Entity], RowChanges] = {}
    forgotten: dict[Key, str] = {}
    erased: list[Erase] = []
    for change in changes:
        if isinstance(change, Insert):
            entity: type[Entity] = type(change.row)
            _insert(_of(entity, coalesced), change.row)
        elif isinstance(change, Update):
            _update(_of(change.entity, coalesced), change.key, change.values)
        elif isinstance(change, Delete):
            _delete(_of(change.entity, coalesced), change.key)
        elif isinstance(change, Erase):
            erased.append(change)
        else:
            forgotten[change.process_instance_key] = change.tenant_id
    return Coalesced([coalesced[entity] for entity in _TABLES if entity in coalesced], forgotten, erased)


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
    """Delete a row; a row that the batch itself inserts is not written at all."""
    rows.updates.pop(key, None)
    rows.inserts.pop(key, None)
    rows.deletions[key] = None


def _update(rows: RowChanges, key: Key, values: Mapping[str, object]) -> None:
    """Update a row; an update of a row that the batch inserts later or has deleted has no effect."""
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
