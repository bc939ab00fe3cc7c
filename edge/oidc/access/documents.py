"""Documents of standards, whose members have the JSON names of the contract."""

from collections.abc import Sequence

import orjson
from google.protobuf.message import Message

Members = dict[str, object]


def document(message: Message) -> bytes:
    """Write a document of a standard; the same message gives the same text. Bytes are JSON already."""
    return orjson.dumps(_members(message))


def _members(message: Message) -> Members:
    """Return every member, except optional fields that are unset."""
    return {
        field.json_name: _value(getattr(message, field.name))
        for field in message.DESCRIPTOR.fields
        if not field.has_presence or message.HasField(field.name)
    }


def _value(value: object) -> object:
    match value:
        case Message():
            return _members(value)
        case str() | int():
            return value
        case bytes():
            return orjson.Fragment(value)
        case Sequence():
            return [_value(element) for element in value]
        case _:
            raise TypeError(f"no document of the provider has a {type(value).__name__}")
