"""JSON that a person typed into a field, which keeps every digit of its numbers."""

from collections.abc import Mapping
from decimal import Decimal
from json import JSONDecodeError, loads
from typing import Any

import msgspec
import orjson

from server.platform.errors import InvalidArgument

_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def value_of(text: str, field: str) -> orjson.Fragment:
    """Return JSON text as a part of a body; raises InvalidArgument, which names the place of the mistake."""
    _checked(text, field)
    return orjson.Fragment(text.strip())


def object_of(text: str, field: str) -> Mapping[str, orjson.Fragment]:
    """Return the members of a JSON object, none of an empty text; raises InvalidArgument."""
    if not text.strip():
        return {}
    if not isinstance(_checked(text, field), dict):
        raise InvalidArgument(f'{field}: expected a JSON object, as in {{"name": "text"}}')
    try:
        return {name: orjson.Fragment(bytes(value)) for name, value in _members(text).items()}
    except msgspec.DecodeError as error:
        raise InvalidArgument(f"{field}: this is no JSON: {error}") from error


def readable(text: str) -> str:
    """Return JSON with indentation, or as it is where that would change a number."""
    value = orjson.loads(text)
    is_same = orjson.dumps(value).decode() == text
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() if is_same else text


def exact(text: str) -> Any:
    """Return the value of JSON in which numbers with a fraction are decimals, so that no digit is lost."""
    return loads(text, parse_float=Decimal)


def written(value: Any) -> Any:
    """Return a value of `exact` as a part of a body."""
    if isinstance(value, dict):
        return {name: written(each) for name, each in value.items()}
    if isinstance(value, list):
        return [written(each) for each in value]
    is_number = isinstance(value, int | Decimal) and not isinstance(value, bool)
    return orjson.Fragment(str(value)) if is_number else value


def _checked(text: str, field: str) -> Any:
    try:
        return loads(text, parse_constant=_refused)
    except JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InvalidArgument(
            f'{field}: this is no JSON: {error.msg}, {where}. A text needs quotation marks, as in "text".'
        ) from error
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"{field}: this is no JSON") from error


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")
