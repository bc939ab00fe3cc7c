"""The searchable fields of an entity, derived from its annotations."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import NoneType, UnionType
from typing import NewType, Union, get_args, get_origin, get_type_hints

Scalar = str | int | bool | datetime


class FieldType(StrEnum):
    """The type of a field, which determines comparison; keys are integers, enums are texts as on the wire."""

    TEXT = "TEXT"
    INTEGER = "INTEGER"
    BOOLEAN = "BOOLEAN"
    DATE_TIME = "DATE_TIME"
    TEXTS = "TEXTS"


@dataclass(frozen=True, slots=True)
class Field:
    """A searchable attribute of an entity; stores find rows by an indexed field's value without a scan."""

    name: str
    type: FieldType
    is_indexed: bool = False


def fields_of(entity: type, *, indexed: Collection[str] = ()) -> Mapping[str, Field]:
    """Return the searchable fields by name; attributes of other types, such as mappings, are omitted."""
    types = {name: _type_of(hint) for name, hint in get_type_hints(entity).items()}
    return {name: Field(name, found, name in indexed) for name, found in types.items() if found is not None}


def _type_of(hint: object) -> FieldType | None:
    plain = _without_none(hint)
    while isinstance(plain, NewType):
        plain = _without_none(plain.__supertype__)
    if get_origin(plain) is tuple and get_args(plain) == (str, ...):
        return FieldType.TEXTS
    return next(
        (found for kind, found in _TYPES if isinstance(plain, type) and issubclass(plain, kind)), None
    )


def _without_none(hint: object) -> object:
    if get_origin(hint) not in {Union, UnionType}:
        return hint
    present = [option for option in get_args(hint) if option is not NoneType]
    return present[0] if len(present) == 1 else hint


# bool comes before int because it is a subclass of int.
_TYPES: tuple[tuple[type, FieldType], ...] = (
    (bool, FieldType.BOOLEAN),
    (int, FieldType.INTEGER),
    (str, FieldType.TEXT),
    (datetime, FieldType.DATE_TIME),
)
