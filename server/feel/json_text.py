"""JSON with exact numbers."""

import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import NoReturn, TypeAlias

from server.feel import text
from server.feel.decimals import parse_number
from server.feel.temporal import formatter
from server.feel.temporal.values import DateTime
from server.feel.values import Context, Function, Range, Value

_Writer: TypeAlias = Callable[[Value], str]


def read(source: str) -> Value:
    """Parse a JSON text; raises ValueError for invalid or too deeply nested JSON."""
    try:
        value: Value = json.loads(
            source, parse_int=parse_number, parse_float=parse_number, parse_constant=_refuse
        )
    except (ArithmeticError, RecursionError) as error:
        raise ValueError("a number or a depth out of bounds") from error
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def pieces(value: Value) -> Iterator[str]:
    """Return pieces of compact JSON; the value must have been measured. Types that JSON lacks become strings."""
    return _pieces(value, _scalar)


def variable(value: Value) -> str:
    """Return JSON for a process variable, from a value of an evaluation.

    A date-time is written with its offset, without the zone's name; functions and ranges become null.
    """
    return "".join(_pieces(value, _scalar_of_variable))


def _pieces(value: Value, scalar: _Writer) -> Iterator[str]:
    if isinstance(value, dict):
        return _object(value, scalar)
    if isinstance(value, list):
        return _array(value, scalar)
    return iter((scalar(value),))


def _object(context: Context, scalar: _Writer) -> Iterator[str]:
    opening = "{"
    for key, value in context.items():
        yield f"{opening}{json.dumps(key, ensure_ascii=False)}:"
        yield from _pieces(value, scalar)
        opening = ","
    yield "}" if context else "{}"


def _array(items: list[Value], scalar: _Writer) -> Iterator[str]:
    opening = "["
    for value in items:
        yield opening
        yield from _pieces(value, scalar)
        opening = ","
    yield "]" if items else "[]"


def _scalar(value: Value) -> str:
    if value is None or isinstance(value, bool | int | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, DateTime):
        return f'"{formatter.with_offset_and_region(value)}"'
    return json.dumps("".join(text.pieces(value)), ensure_ascii=False)


def _scalar_of_variable(value: Value) -> str:
    if isinstance(value, Function | Range):
        return "null"
    if isinstance(value, DateTime):
        return f'"{formatter.with_offset(value)}"'
    return _scalar(value)
