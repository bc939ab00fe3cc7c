"""Messages about clients, field by field: values by the names of the contract."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar, cast

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from identity.clients.fields import Value, Values, reader_of_record
from identity.directory.client import Client

M = TypeVar("M", bound=Message)


def values_of(message: Message) -> Values:
    """Return the value of each field, None for an optional one that is unset."""
    return {
        field.name: None
        if field.has_presence and not message.HasField(field.name)
        else _value(getattr(message, field.name), is_repeated=field.is_repeated)
        for field in _fields(type(message))
    }


def message_of(kind: type[M], client: Client, **others: Value) -> M:
    """Return the message of a client; `others` are fields that differ in meaning from those of its record."""
    values: dict[str, Any] = {
        name: read(client) for name, read in _readers(cast("Any", kind), frozenset(others))
    }
    return kind(**values, **others)


@cache
def _readers(kind: type[Message], without: frozenset[str]) -> Sequence[tuple[str, Callable[[Client], Value]]]:
    return [
        (field.name, reader_of_record(field.name)) for field in _fields(kind) if field.name not in without
    ]


def _value(value: object, *, is_repeated: bool) -> Value:
    return tuple(cast("tuple[str, ...]", value)) if is_repeated else cast("Value", value)


def _fields(kind: type[Message]) -> Sequence[FieldDescriptor]:
    # The C implementation and the stubs have classes of their own.
    return cast("Sequence[FieldDescriptor]", kind.DESCRIPTOR.fields)
