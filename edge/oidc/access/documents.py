"""Messages as JSON documents, with the member names of the contract."""

from collections.abc import Sequence
from typing import Literal

import orjson
from google.protobuf.message import Message

Members = dict[str, object]
_Spelling = Literal["name", "json_name"]


def document(message: Message) -> bytes:
    """Write a document of a standard; the same message gives the same text."""
    return orjson.dumps(members_of(message, "json_name"))


def members_of(message: Message, spelling: _Spelling) -> Members:
    """Return every member, except optional fields that are unset."""
    return {
        getattr(field, spelling): _value(getattr(message, field.name), spelling)
        for field in message.DESCRIPTOR.fields
        if not field.has_presence or message.HasField(field.name)
    }


def _value(value: object, spelling: _Spelling) -> object:
    match value:
        case Message():
            return members_of(value, spelling)
        case str() | int():
            return value
        case Sequence():
            return [_value(element, spelling) for element in value]
        case _:
            raise TypeError(f"no document of the provider has a {type(value).__name__}")
