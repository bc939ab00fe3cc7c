"""Conversions between types."""

from typing import Final

from server.feel import json_text
from server.feel.decimals import parse_number
from server.feel.errors import InvocationError
from server.feel.run import Run, joined, measure
from server.feel.signatures import Family
from server.feel.text import pieces
from server.feel.values import Value

# Integers of this size need no check of their text's length.
_SHORT_BITS: Final = 64


def string(run: Run, from_: Value) -> str | None:
    if from_ is None or isinstance(from_, str):
        return from_
    if type(from_) is int and from_.bit_length() <= _SHORT_BITS:
        return str(from_)
    measure(run, from_)
    return joined(pieces(from_))


def number(from_: str) -> Value:
    return _number(from_, from_)


def grouped_number(from_: str, grouping_separator: str | None) -> Value:
    return number_with_separators(from_, grouping_separator, None)


def number_with_separators(
    from_: str, grouping_separator: str | None, decimal_separator: str | None
) -> Value:
    if grouping_separator not in _GROUPING_SEPARATORS or decimal_separator not in _DECIMAL_SEPARATORS:
        raise InvocationError("a separator is not an allowed one")
    if grouping_separator is not None and grouping_separator == decimal_separator:
        raise InvocationError("both separators are the same")
    ungrouped = from_.replace(grouping_separator or "", "") if grouping_separator else from_
    return _number(ungrouped.replace(decimal_separator or ".", "."), from_)


_GROUPING_SEPARATORS = {None, " ", ".", ","}
_DECIMAL_SEPARATORS = {None, ".", ","}


def _number(text: str, source: str) -> Value:
    try:
        return parse_number(text)
    except ArithmeticError as error:
        raise InvocationError(f"Can't parse '{source}' as a number") from error


def from_json(value: str) -> Value:
    try:
        return json_text.read(value)
    except ValueError as error:
        raise InvocationError(f"Failed to parse JSON from '{value}'") from error


def to_json(run: Run, value: Value) -> str:
    measure(run, value)
    return joined(json_text.pieces(value))


FUNCTIONS: Family = {
    "string": string,
    "number": (number, grouped_number, number_with_separators),
    "from json": from_json,
    "to json": to_json,
}
