"""What table an entity rests in, and how its columns are written: read from the annotations once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, get_origin, get_type_hints

from server.engine.keys import Key
from server.platform.query import FieldType, Searchable
from server.store.entities import Entity
from server.store.postgres.literals import json_objects, scalars, text_arrays, texts
from server.store.searchables import SEARCHABLES

Literal = Callable[[Sequence[Any]], str]


@dataclass(frozen=True, slots=True)
class Column:
    """`type` is the column's in SQL, `item_type` what an array of its values is made of."""

    name: str
    type: str
    item_type: str
    to_literal: Literal

    def literal(self, values: Sequence[object]) -> str:
        """The values as an array, empty when there is none: `unnest` gives NULL where an array is over."""
        is_empty = values[0] is None and values.count(None) == len(values)
        return "{}" if is_empty else self.to_literal(values)

    @property
    def value(self) -> str:
        """How a row `r` of an array's items has the value."""
        return f"r.{self.name}" if self.type == self.item_type else f"r.{self.name}::{self.type}"


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """`cells` are a row's values in the order of the columns, `places` the columns' by their names."""

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
    hints = get_type_hints(searchable.entity)
    names = [entry.name for entry in fields(searchable.entity)]
    return [_column(name, searchable, hints[name]) for name in names]


def _column(name: str, searchable: Searchable[Entity], hint: object) -> Column:
    if name in searchable.fields:
        return Column(name, *_SCALARS[searchable.fields[name].type])
    if get_origin(hint) is Mapping:
        return Column(name, "jsonb", "text", json_objects)
    raise TypeError(f"{searchable.entity.__name__}.{name}: no column holds a {hint}")


_SCALARS: Mapping[FieldType, tuple[str, str, Literal]] = {
    FieldType.TEXT: ("text", "text", texts),
    FieldType.INTEGER: ("bigint", "bigint", scalars),
    FieldType.BOOLEAN: ("boolean", "boolean", scalars),
    FieldType.DATE_TIME: ("timestamptz", "timestamptz", scalars),
    FieldType.TEXTS: ("text[]", "text", text_arrays),
}

TABLES: Mapping[type[Entity], Table] = {
    entity: _table(searchable) for entity, searchable in SEARCHABLES.items()
}
