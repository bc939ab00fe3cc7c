"""Search filters that match entities of another tenant, derived from the descriptors of the contract."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from server.platform.policy import Policy

_NOWHERE = "nowhere"
Values = Mapping[str, Sequence[object]]


def values_of(items: Sequence[Message]) -> Values:
    """Return the values of the items by field name."""
    found: dict[str, list[object]] = {}
    for item in items:
        for field, value in item.ListFields():
            if not field.is_repeated and field.message_type is None:
                found.setdefault(field.name, []).append(value)
    return found


def filters(policy: Policy, values: Values) -> Iterator[dict[str, Any]]:
    """Yield filters with one field each: one with the values of the owner's items, one that matches every value."""
    kind = policy.request.DESCRIPTOR.fields_by_name["filter"].message_type
    for field in kind.fields:
        yield from ({field.name: condition} for condition in _conditions(field, values.get(field.name, ())))


def _conditions(field: FieldDescriptor, values: Sequence[object]) -> Iterator[Any]:
    if field.is_repeated:
        yield from ([condition] for condition in _of_list(field, values))
    elif field.message_type is None:
        yield from values[:2]
    else:
        yield from _of_operators(field.message_type, values)


def _of_list(field: FieldDescriptor, values: Sequence[object]) -> Iterator[Any]:
    kind = field.message_type
    if kind is None:
        yield from values[:2]
    elif {"name", "value"} <= set(kind.fields_by_name):
        yield {"name": "variable_of_default", "value": {"exists": True}}
    elif "eq" in kind.fields_by_name:
        yield from _of_operators(kind, values)
    else:
        # `$or` has filters of the same type.
        yield {}


def _of_operators(kind: Descriptor, values: Sequence[object]) -> Iterator[dict[str, Any]]:
    operators = kind.fields_by_name
    if "eq" not in operators:
        return
    if "exists" in operators:
        yield {"exists": True}
    if "like" in operators and operators["eq"].type != FieldDescriptor.TYPE_ENUM:
        yield {"like": "*"}
    if kind.full_name == "gnomon.query.v1.StringFilter":
        yield {"neq": _NOWHERE}
    for value in (_operand(operators["eq"], value) for value in values[:2]):
        yield {"eq": value}
        yield {"in": [value]}
        if "not_in" in operators:
            yield {"not_in": [value]}


def _operand(field: FieldDescriptor, value: object) -> object:
    """Return the value as the filter takes it: an item may have the name of an enum value without its prefix."""
    if field.enum_type is None or not isinstance(value, str):
        return value
    return next(name for name in field.enum_type.values_by_name if name.endswith(value))
