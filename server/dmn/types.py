"""Types from item definitions, and conversions to them (DMN 1.5 §7.3.2, §10.3.2.9.4).

FEEL's types are wrapped, because FEEL has no allowed values.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from server import feel
from server.feel import MISSING, Function, Missing, UnaryTests, Value
from server.feel.types import ContextType, FunctionType, ListType, NamedType

_DATE_TIME = feel.parse_type("date and time")


class Type(Protocol):
    def conforms(self, value: Value) -> bool:
        """Whether a non-null value belongs to the type without conversion."""
        ...

    @property
    def shape(self) -> "Type":
        """The type without allowed values, which `instance of` ignores."""
        ...

    @property
    def feel(self) -> feel.Type:
        """The closest FEEL type."""
        ...


@dataclass(frozen=True, slots=True)
class Plain:
    feel: feel.Type

    @property
    def shape(self) -> Type:
        return self

    def conforms(self, value: Value) -> bool:
        return feel.conforms(value, self.feel)


@dataclass(frozen=True, slots=True)
class Collection:
    item: Type

    def conforms(self, value: Value) -> bool:
        return isinstance(value, list) and all(each is None or self.item.conforms(each) for each in value)

    @property
    def shape(self) -> Type:
        return Collection(self.item.shape)

    @property
    def feel(self) -> feel.Type:
        return ListType(self.item.feel)


@dataclass(frozen=True, slots=True)
class Structure:
    """A context type; values may have further entries."""

    components: tuple[tuple[str, Type], ...]

    def conforms(self, value: Value) -> bool:
        return isinstance(value, dict) and all(
            name in value and (value[name] is None or type_.conforms(value[name]))
            for name, type_ in self.components
        )

    @property
    def shape(self) -> Type:
        return Structure(tuple((name, type_.shape) for name, type_ in self.components))

    @property
    def feel(self) -> feel.Type:
        return ContextType(tuple((name, type_.feel) for name, type_ in self.components))


@dataclass(frozen=True, slots=True)
class Restricted:
    """A type restricted to values that its tests accept."""

    origin: Type
    allowed: UnaryTests

    def conforms(self, value: Value) -> bool:
        return self.origin.conforms(value) and self.allowed.evaluate(value, {}).value is True

    @property
    def shape(self) -> Type:
        return self.origin.shape

    @property
    def feel(self) -> feel.Type:
        return self.origin.feel


@dataclass(frozen=True, slots=True)
class Signature:
    """A function type; a function belongs to it if it has as many parameters."""

    parameters: tuple[Type, ...]
    result: Type

    def conforms(self, value: Value) -> bool:
        return isinstance(value, Function) and len(value.parameters) == len(self.parameters)

    @property
    def shape(self) -> Type:
        return self

    @property
    def feel(self) -> feel.Type:
        return FunctionType(tuple(each.feel for each in self.parameters), self.result.feel)


@dataclass(frozen=True, slots=True)
class Reference:
    """An item definition by name; it may be defined later, or refer to itself, such as a person with children."""

    name: str
    resolve: Callable[[str], Type]

    def conforms(self, value: Value) -> bool:
        return self.resolve(self.name).conforms(value)

    @property
    def shape(self) -> Type:
        return Reference(self.name, lambda name: self.resolve(name).shape)

    @property
    def feel(self) -> feel.Type:
        return NamedType(self.name)


ANY: Type = Plain(NamedType("Any"))


def definition_of(type_: Type) -> Type:
    """Return the type behind a reference by name."""
    while isinstance(type_, Reference):
        type_ = type_.resolve(type_.name)
    return type_


def converted(value: Value, target: Type) -> Value | Missing:
    """Convert a value as far as DMN allows; MISSING if it has another type."""
    if value is None or target.conforms(value):
        return value
    if isinstance(value, list):
        return _converted_single(value, target)
    if target.conforms([value]):
        return [value]
    as_date_time = feel.coerced(value, _DATE_TIME)
    return as_date_time if as_date_time is not None and target.conforms(as_date_time) else MISSING


def _converted_single(items: list[Value], target: Type) -> Value | Missing:
    if len(items) == 1 and items[0] is not None and target.conforms(items[0]):
        return items[0]
    return MISSING
