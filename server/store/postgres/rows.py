"""Converts records to rows, with one reader per entity that is compiled from its annotations.

The columns are in the order of the entity's fields.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from types import NoneType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

import asyncpg

from server.store.entities import Entity

E = TypeVar("E", bound=Entity)


def row_reader(entity: type[E]) -> Callable[[asyncpg.Record], E]:
    """A function that converts a record to a row; raises TypeError for a field type that no column can hold."""
    read: Callable[[asyncpg.Record], E] = _compiled(cast("Any", entity))
    return read


@cache
def _compiled(entity: Any) -> Any:
    hints, scope = get_type_hints(entity), {"Row": entity}
    values = [
        f"{name}={_value(name, hints[name], f'record[{place}]', scope)}"
        for place, name in enumerate(entity.__struct_fields__)
    ]
    source = f"def read(record):\n    return Row({', '.join(values)})"
    exec(compile(source, f"<{entity.__name__} of a record>", "exec"), scope)  # noqa: S102  # names of our entities
    return scope["read"]


def _value(name: str, hint: Any, item: str, scope: dict[str, Any]) -> str:
    """Source text for the value of a field, as short as its type allows."""
    present = [option for option in get_args(hint) if option is not NoneType]
    is_optional = NoneType in get_args(hint)
    plain = present[0] if is_optional and len(present) == 1 else hint
    if isinstance(plain, type) and issubclass(plain, Enum):
        scope[f"{name}_members"] = {member.value: member for member in plain}
        return f"{name}_members[{item}]" if not is_optional else f"{name}_members.get({item})"
    if get_origin(plain) is tuple and not is_optional:
        return f"tuple({item})"
    if get_origin(plain) in {None, Mapping}:
        return item
    raise TypeError(f"{name}: no column holds a {hint}")
