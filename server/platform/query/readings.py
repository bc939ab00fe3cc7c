"""Readings: conversions of filter fields that do not correspond to a single attribute of the entity."""

from collections.abc import Callable, Sequence

from google.protobuf.message import Message

from server.platform.query.clauses import Clauses, Related
from server.platform.query.conditions import Condition, Operator
from server.platform.query.fields import Field, FieldType

Reading = Callable[[bool], Clauses] | Callable[[Sequence[str]], Clauses] | Callable[[Message], Clauses]
"""Converts the value of a filter field: a bool, texts, or an operator object."""


def contains_every(name: str) -> Reading:
    """Require that the row's list of texts `name` contains all given texts."""
    field = Field(name, FieldType.TEXTS)
    return lambda texts: (Condition(field, Operator.CONTAINS_EVERY, tuple(texts)),)


def contains_none(name: str) -> Reading:
    """Require that the row's list of texts `name` contains none of the given texts."""
    field = Field(name, FieldType.TEXTS)
    return lambda texts: (Condition(field, Operator.CONTAINS_NONE, tuple(texts)),)


def longer_than(name: str, length: int) -> Reading:
    """Compare the length of the row's text `name`: longer than `length` characters for True, else not longer."""
    field = Field(name, FieldType.TEXT)
    operators = {True: Operator.LONGER_THAN, False: Operator.NOT_LONGER_THAN}
    return lambda is_wanted: (Condition(field, operators[bool(is_wanted)], length),)


def only_if_true(name: str) -> Reading:
    """For True, keep the rows whose `name` is true; for False, keep all."""
    condition = Condition(Field(name, FieldType.BOOLEAN), Operator.EQ, operand=True)
    return lambda is_wanted: (condition,) if is_wanted else ()


def has_related(key: str, entity: type, link: str, *conditions: Condition) -> Reading:
    """Require that a related row of another entity meeting the conditions exists (True) or does not (False)."""
    field = Field(key, FieldType.INTEGER)
    return lambda is_wanted: (Related(field, entity, link, conditions, bool(is_wanted)),)
