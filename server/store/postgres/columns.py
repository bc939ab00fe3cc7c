"""The table of each entity, and how its columns are written, derived from the annotations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, get_origin, get_type_hints

from server.engine.keys import Key
from server.platform.query import FieldType, Searchable
from server.store.entities import (
    AuditEntry,
    CorrelatedMessageSubscription,
    ElementInstance,
    Entity,
    Incident,
    Job,
    MessageSubscription,
    ProcessInstance,
    UserTask,
    Variable,
)
from server.store.postgres.literals import (
    json_object,
    json_objects,
    scalars,
    storable,
    storable_texts,
    text_arrays,
    texts,
)
from server.store.searchables import SEARCHABLES


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """`type` is the SQL type of the column, `item_type` that of array items."""

    name: str
    type: str
    item_type: str
    to_value: Callable[[Any], object]
    to_literal: Callable[[Sequence[Any]], str]

    def value(self, row: str, parameter: str) -> str:
        """SQL for the value of a row, from the row of array items, or from the parameter if that has NULL or no item."""
        item = f"{row}.{self.name}" + ("" if self.type == self.item_type else f"::{self.type}")
        return f"coalesce({item}, {parameter}::{self.type})"


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The table of an entity; `cells` returns a row's values in column order, `places` are the indexes of columns by name."""

    entity: type[Entity]
    name: str
    key: Column
    columns: tuple[Column, ...]
    places: Mapping[str, int]
    cells: Callable[[Entity], tuple[object, ...]]
    key_of: Callable[[Entity], Key]


def _table(searchable: Searchable[Entity]) -> Table:
    columns = tuple(_columns(searchable))
    names = [column.name for column in columns]
    key = searchable.key.name
    return Table(
        entity=searchable.entity,
        name=key.removesuffix("_key"),
        key=columns[names.index(key)],
        columns=columns,
        places={name: place for place, name in enumerate(names)},
        cells=attrgetter(*names),
        key_of=attrgetter(key),
    )


def _columns(searchable: Searchable[Entity]) -> Sequence[Column]:
    """The columns of an entity, without the partition number, which the statements add."""
    hints = get_type_hints(searchable.entity)
    names = [name for name in searchable.entity.__struct_fields__ if name != "partition_id"]
    return [_column(name, searchable, hints[name]) for name in names]


def _column(name: str, searchable: Searchable[Entity], hint: object) -> Column:
    if name in searchable.fields:
        return Column(name, *_SCALARS[searchable.fields[name].type])
    if get_origin(hint) is Mapping:
        return Column(name, "jsonb", "text", json_object, json_objects)
    raise TypeError(f"{searchable.entity.__name__}.{name}: no column holds a {hint}")


def _as_it_is(value: object) -> object:
    return value


_SCALARS: Mapping[FieldType, tuple[str, str, Callable[[Any], object], Callable[[Sequence[Any]], str]]] = {
    FieldType.TEXT: ("text", "text", storable, texts),
    FieldType.INTEGER: ("bigint", "bigint", _as_it_is, scalars),
    FieldType.BOOLEAN: ("boolean", "boolean", _as_it_is, scalars),
    FieldType.DATE_TIME: ("timestamptz", "timestamptz", _as_it_is, scalars),
    FieldType.TEXTS: ("text[]", "text", storable_texts, text_arrays),
}

TABLES: Mapping[type[Entity], Table] = {
    entity: _table(searchable) for entity, searchable in SEARCHABLES.items()
}

# The entities in the buckets of history.
BUCKETED: frozenset[type[Entity]] = frozenset(
    {
        ProcessInstance,
        ElementInstance,
        Job,
        Variable,
        Incident,
        UserTask,
        MessageSubscription,
        CorrelatedMessageSubscription,
        AuditEntry,
    }
)
