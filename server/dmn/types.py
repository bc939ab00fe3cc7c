"""Types of values as item definitions make them, and the conversions to them (DMN 1.5 §7.3.2, §10.3.2.9.4).

FEEL's own types are wrapped; allowed values are what it does not have.
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
        """Tell whether the value, which is not null, belongs to the type as it is."""
        ...

    @property
    def shape(self) -> "Type":
        """The type without allowed values, which `instance of` does not ask for."""
        ...

    @property
    def feel(self) -> feel.Type:
        """The nearest type of FEEL."""
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
    """A context may have more entries than these."""

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
    """Values that its tests accept."""

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
    """A function; `parameters` may be shorter than what a definition of no interest would have."""

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
    """An item definition by its name: it may be defined later, or by itself, as a person whose children are persons."""

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
    """The type itself, where it may be a reference by name."""
    while isinstance(type_, Reference):
        type_ = type_.resolve(type_.name)
    return type_


def converted(value: Value, target: Type) -> Value | Missing:
    """Convert, where that is allowed; MISSING says that the value is of another type."""
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
