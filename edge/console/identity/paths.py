"""Values of messages at paths: names of fields with dots between them."""

from collections.abc import Iterator
from typing import Any, cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message


def field_at(message: Descriptor, path: str) -> FieldDescriptor:
    """Return the descriptor of a field; raises KeyError for a path that the contract does not have."""
    first, _, rest = path.partition(".")
    field = message.fields_by_name[first]
    if not rest:
        return field
    if field.message_type is None:
        raise KeyError(path)
    return field_at(field.message_type, rest)


def has_field(message: Descriptor, path: str) -> bool:
    try:
        field_at(message, path)
    except KeyError:
        return False
    return True


def value_at(message: Message, path: str) -> Any:
    """Return the value of a field, None for an optional one without a value; the message itself for an empty path."""
    if not path:
        return message
    first, _, rest = path.partition(".")
    field = message.DESCRIPTOR.fields_by_name[first]
    if field.has_presence and not message.HasField(first):
        return None
    value = getattr(message, first)
    return value_at(value, rest) if rest else value


def values_at(message: Message, path: str) -> Iterator[Any]:
    """Yield the values of a field, also of one in each message of a repeated field."""
    first, _, rest = path.partition(".")
    value = getattr(message, first)
    for each in value if message.DESCRIPTOR.fields_by_name[first].is_repeated else (value,):
        if rest:
            yield from values_at(each, rest)
        else:
            yield each


def put_at(message: Message, path: str, value: Any) -> None:
    """Set a field, or omit it for None; raises ValueError or TypeError for a value that the field cannot hold."""
    *above, last = path.split(".")
    parent: Any = message
    for name in above:
        parent = getattr(parent, name)
    parent.ClearField(last)
    if parent is not message:
        # An empty list in its own message differs from an absent message.
        parent.SetInParent()
    if value is None:
        return
    field = type_of(parent).fields_by_name[last]
    if field.is_repeated and field.message_type is not None:
        for each in value:
            getattr(parent, last).add(**each)
    elif field.is_repeated:
        getattr(parent, last).extend(value)
    else:
        setattr(parent, last, value)


def type_of(message: Message) -> Descriptor:
    # The stubs name the two implementations of descriptors, of which only one is public.
    return cast("Descriptor", message.DESCRIPTOR)


def listed(response: Message) -> Any:
    """Return the records of a response, which has exactly one repeated field of messages."""
    (field,) = (each for each in response.DESCRIPTOR.fields if each.is_repeated and each.message_type)
    return getattr(response, field.name)


def record_in(response: Message) -> Any:
    """Return the record of a response, which has at most one message; None without one."""
    fields = [each for each in response.DESCRIPTOR.fields if each.message_type and not each.is_repeated]
    return getattr(response, fields[0].name) if fields else None
