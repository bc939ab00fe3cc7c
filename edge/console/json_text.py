"""JSON that a person typed into a field, which keeps every digit of its numbers."""

from collections.abc import Mapping
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


def _checked(text: str, field: str) -> Any:
    try:
        return loads(text, parse_constant=_refused)
    except JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InvalidArgument(
            f'{field}: this is no JSON: {error.msg}, {where}. A text stands in quotes, as in "text".'
        ) from error
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"{field}: this is no JSON") from error


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")
