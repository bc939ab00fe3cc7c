"""Variables as JSON: the received text, decoded only when an expression reads it.

Numbers keep every digit: integers as int, all others as Decimal.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from itertools import chain

import msgspec

from server import feel
from server.feel import json_text

# JSON text by variable name.
Variables = Mapping[str, str]


CACHED_TEXT_LENGTH = 4096
CACHED_TEXTS = 8192
MAX_DEPTH = 500
# Each variable is a row; this number of rows takes half a second.
MAX_VARIABLES = 10_000
MAX_WHOLE_DIGITS = 34
# Exponent limit of IEEE 754 decimal128, the numbers of FEEL.
MAX_EXPONENT = 6144

_LARGE_NUMBER = re.compile(rb"\d{1000}|[eE][+-]?\d{4}")

_TEMPORAL = feel.Date | feel.Time | feel.DateTime | feel.DaysDuration | feel.MonthsDuration

_split = msgspec.json.Decoder(dict[str, msgspec.Raw])
_raw = msgspec.json.Decoder(msgspec.Raw)
_decode = msgspec.json.Decoder(float_hook=Decimal)
_encode = msgspec.json.Encoder(decimal_format="number")


class MalformedVariables(ValueError):
    """The variables are no JSON object, or exceed a limit of members, nesting or FEEL's number range."""


def split(document: bytes) -> Variables:
    """The members of a JSON object, each as compact JSON text; empty bytes mean no variables."""
    if not document:
        return {}
    try:
        members = _split.decode(document)
        _check_count(len(members))
        return {name: _compact(value) for name, value in members.items()}
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise MalformedVariables(f"expected a JSON object: {error}") from error


def compact(document: bytes) -> str:
    """The compact JSON text of one value."""
    try:
        return _compact(_raw.decode(document))
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise MalformedVariables(f"expected JSON: {error}") from error


def _check_count(count: int) -> None:
    if count > MAX_VARIABLES:
        raise MalformedVariables(f"expected at most {MAX_VARIABLES} variables, found {count}")


def _compact(value: msgspec.Raw) -> str:
    text = msgspec.json.format(value, indent=-1)
    if text[:1] in b"[{":
        _check_depth(text)
    if text[:1] != b'"' and _LARGE_NUMBER.search(text):
        _check_numbers(text)
    return bytes(text).decode()


def _check_depth(text: bytes) -> None:
    # Counting brackets over-estimates when strings contain them; only then is the value decoded.
    if text.count(b"[") + text.count(b"{") > MAX_DEPTH and _depth(_decode.decode(text)) > MAX_DEPTH:
        raise MalformedVariables(f"expected at most {MAX_DEPTH} levels of nesting")


def _check_numbers(text: bytes) -> None:
    try:
        values = chain.from_iterable(_levels(_decode.decode(text)))
        fit = all(abs(value.adjusted()) <= MAX_EXPONENT for value in values if isinstance(value, Decimal))
    except ArithmeticError:
        fit = False
    if not fit:
        raise MalformedVariables(f"expected numbers with exponents up to {MAX_EXPONENT}")


def _depth(value: object) -> int:
    return sum(1 for _ in _levels(value))


def _levels(value: object) -> Iterator[list[object]]:
    level = [value]
    while level:
        yield level
        level = [child for parent in level for child in _children(parent)]


def _children(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def join(variables: Variables) -> bytes:
    """The JSON object that holds the variables."""
    members = [f"{encode(name)}:{text}" for name, text in variables.items()]
    return f"{{{','.join(members)}}}".encode()


def decode(text: str) -> feel.Value:
    """The FEEL value of a variable. The result is shared between calls, as FEEL never changes a value."""
    return _decode_cached(text) if len(text) <= CACHED_TEXT_LENGTH else _decode_text(text)


def _decode_text(text: str) -> feel.Value:
    value: feel.Value = _decode.decode(text)
    return value


_decode_cached = lru_cache(CACHED_TEXTS)(_decode_text)


def encode(value: feel.Value) -> str:
    """JSON text of a FEEL value: temporal values are strings; functions and ranges become null."""
    return _encode.encode(_json_value(value)).decode()


def octets(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _json_value(value: feel.Value) -> object:
    if isinstance(value, dict):
        return {name: _json_value(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_json_value(item) for item in value]
    if isinstance(value, Decimal):
        return _whole(value)
    if isinstance(value, feel.Range | feel.Function):
        return None
    return msgspec.Raw(json_text.variable(value).encode()) if isinstance(value, _TEMPORAL) else value


def _whole(value: Decimal) -> int | Decimal:
    return int(value) if value.adjusted() < MAX_WHOLE_DIGITS and value == value.to_integral_value() else value
