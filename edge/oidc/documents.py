"""Messages as the JSON documents of the standards, whose member names stand in the contract."""

from collections.abc import Iterable

import orjson
from google.protobuf.message import Message


def document(message: Message) -> bytes:
    """Write every member, only those of optional fields that are unset stay away; one message has one text."""
    return orjson.dumps(_members(message))


def _members(message: Message) -> dict[str, object]:
    return {
        field.json_name: _written(getattr(message, field.name))
        for field in message.DESCRIPTOR.fields
        if not field.has_presence or message.HasField(field.name)
    }


def _written(value: object) -> object:
    match value:
        case Message():
            return _members(value)
        case str() | int():
            return value
        case Iterable():
            return [_written(element) for element in value]
        case _:
            raise TypeError(f"no document of the provider has a {type(value).__name__}")
