"""Checks of values against the types that their elements declare."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from server.dmn.boxed import DecisionTable, Element
from server.dmn.model import Decision, DrgElement
from server.dmn.place import Place, checked
from server.dmn.session import DecisionFailedError, Session
from server.dmn.types import ANY, Signature, Type, definition_of
from server.feel import Value
from server.feel.text import shown
from server.feel.values import type_name

Check: TypeAlias = Callable[[Session, Value], Value]


def as_it_is(_session: Session, value: Value) -> Value:
    return value


def conversion(element: DrgElement, place: Place) -> Check:
    return _converts_to(place.type(element.type_ref, element), element)


def _converts_to(target: Type, at: Element) -> Check:
    if target == ANY:
        return as_it_is
    return lambda session, value: checked(session, value, target, at.id)


def function_check(element: DrgElement, place: Place) -> Check:
    """Return the check of a function's result.

    The variable's type is the function's type or, in DMN 1.1 models, the type of its result.
    """
    declared = definition_of(place.type(element.type_ref, element))
    return _converts_to(declared.result if isinstance(declared, Signature) else declared, element)


def result_check(element: Decision, place: Place) -> Check:
    if place.dialect.converts_values:
        return _both(_conversion_of_table(element, place), conversion(element, place))
    expected = _CHECKED_TYPES.get((element.type_ref or "").lower())
    if expected is None:
        return as_it_is

    def same_type(_session: Session, value: Value) -> Value:
        if value is None or type_name(value) == expected:
            return value
        raise DecisionFailedError(f"expected '{element.type_ref}' but found '{shown(value)}'")

    return same_type


def _conversion_of_table(element: Decision, place: Place) -> Check:
    """Return the conversion of a table's value; other logic is converted where it is compiled."""
    logic = element.logic
    return (
        _converts_to(place.type(logic.type_ref, logic), logic)
        if isinstance(logic, DecisionTable)
        else as_it_is
    )


def _both(first: Check, second: Check) -> Check:
    if first is as_it_is:
        return second
    return lambda session, value: second(session, first(session, value))


_CHECKED_TYPES: Final[Mapping[str, str]] = {
    "boolean": "boolean",
    "number": "number",
    "string": "string",
    "date": "date",
    "time": "time",
    "datetime": "date and time",
    "daytimeduration": "days and time duration",
    "yearmonthduration": "years and months duration",
}
