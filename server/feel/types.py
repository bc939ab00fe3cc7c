"""Types as in FEEL, such as `list<number>`, and their membership tests (DMN 1.5 §10.3.2.9)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from server.feel.temporal.values import Date, DateTime, Time, Zone
from server.feel.values import Function, Range, Value, type_name

ModelTypes: TypeAlias = Mapping[str, Callable[[Value], bool]]
"""Membership tests of the types that a model defines, for non-null values."""

NO_TYPES: Final[ModelTypes] = {}


@dataclass(frozen=True, slots=True)
class NamedType:
    """A type by canonical name; no value belongs to an unknown type."""

    name: str


@dataclass(frozen=True, slots=True)
class ListType:
    item: "Type"


@dataclass(frozen=True, slots=True)
class RangeType:
    end: "Type"


@dataclass(frozen=True, slots=True)
class ContextType:
    """A context type; values may have further entries."""

    entries: "tuple[tuple[str, Type], ...]"


@dataclass(frozen=True, slots=True)
class FunctionType:
    parameters: "tuple[Type, ...]"
    result: "Type"


Type: TypeAlias = NamedType | ListType | ContextType | FunctionType | RangeType

ANY: Final = NamedType("Any")
NULL: Final = NamedType("null")
SYNONYMS: Final[Mapping[str, str]] = {
    "date time": "date and time",
    "day-time-duration": "days and time duration",
    "year-month-duration": "years and months duration",
}


def is_instance(value: Value, expected: Type, model: ModelTypes = NO_TYPES) -> bool:
    """Whether `instance of` is true; null belongs only to the null type."""
    if value is None:
        return expected == NULL
    return conforms(value, expected, model)


def conforms(value: Value, expected: Type, model: ModelTypes = NO_TYPES) -> bool:
    """Whether a value is allowed for a type; null always is."""
    if value is None or expected == ANY:
        return True
    match expected:
        case ListType(item):
            return isinstance(value, list) and all(conforms(each, item, model) for each in value)
        case ContextType(entries):
            return isinstance(value, dict) and all(
                key in value and conforms(value[key], kind, model) for key, kind in entries
            )
        case RangeType(end):
            return isinstance(value, Range) and all(
                conforms(each, end, model) for each in (value.start, value.end)
            )
        case FunctionType(parameters, _):
            return isinstance(value, Function) and _takes(value, parameters)
        case NamedType(name):
            return model[name](value) if name in model else type_name(value) == name


def coerced(value: Value, expected: Type, model: ModelTypes = NO_TYPES) -> Value:
    """Convert a value as DMN 1.5 §10.3.2.9.4 allows; null if it still does not conform."""
    if conforms(value, expected, model):
        return value
    if isinstance(expected, ListType) and not isinstance(value, list):
        return [value] if conforms(value, expected.item, model) else None
    if isinstance(value, list) and len(value) == 1 and conforms(value[0], expected, model):
        return value[0]
    if isinstance(value, Date) and expected == NamedType("date and time"):
        return DateTime(value, Time(0, Zone(0)))
    return None


def _takes(function: Function, parameters: tuple[Type, ...]) -> bool:
    if len(function.parameters) != len(parameters):
        return False
    return not function.types or all(
        accepted in (None, ANY, given) for accepted, given in zip(function.types, parameters, strict=True)
    )
