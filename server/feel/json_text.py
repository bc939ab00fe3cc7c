"""JSON with exact numbers."""

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import NoReturn

from server.feel import text
from server.feel.decimals import parse_number
from server.feel.values import Context, Value


def read(source: str) -> Value:
    """Read a text; raises ValueError for what is no JSON or nests too deep."""
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
    """Compact, recursive: the value must be measured. What JSON does not know becomes a string."""
    if isinstance(value, dict):
        return _object(value)
    if isinstance(value, list):
        return _array(value)
    return iter((_scalar(value),))


def _object(context: Context) -> Iterator[str]:
    opening = "{"
    for key, value in context.items():
        yield f"{opening}{json.dumps(key, ensure_ascii=False)}:"
        yield from pieces(value)
        opening = ","
    yield "}" if context else "{}"


def _array(items: list[Value]) -> Iterator[str]:
    opening = "["
    for value in items:
        yield opening
        yield from pieces(value)
        opening = ","
    yield "]" if items else "[]"


def _scalar(value: Value) -> str:
    if value is None or isinstance(value, bool | int | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Decimal):
        return str(value)
    return json.dumps("".join(text.pieces(value)), ensure_ascii=False)
