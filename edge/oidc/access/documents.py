"""Documents of standards, whose members have the JSON names of the contract."""

from collections.abc import Sequence
from functools import cache

import orjson
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

Members = dict[str, object]


def document(message: Message, *, without: str = "") -> bytes:
    """Write a document of a standard, without one of the fields; the same message gives the same text.

    Bytes are JSON already.
    """
    return orjson.dumps(_members(message, without))


def _members(message: Message, without: str = "") -> Members:
    """Return every member, except optional fields that are unset."""
    return {
        json_name: _value(getattr(message, name))
        for json_name, name, has_presence in _fields(message.DESCRIPTOR)
        if name != without and (not has_presence or message.HasField(name))
    }


@cache
def _fields(message: Descriptor) -> Sequence[tuple[str, str, bool]]:
    """Return JSON name, name and presence of each field."""
    return [(field.json_name, field.name, field.has_presence) for field in message.fields]


def _value(value: object) -> object:
    match value:
        case str() | int():
            return value
        case Message():
            return _members(value)
        case bytes():
            return orjson.Fragment(value)
        case Sequence():
            return [_value(element) for element in value]
        case _:
            raise TypeError(f"no document of the provider has a {type(value).__name__}")
