"""Readings: what a filter field for which no single attribute of the entity stands asks of a row."""

from collections.abc import Callable, Sequence

from google.protobuf.message import Message

from server.platform.query.clauses import Clauses, Related
from server.platform.query.conditions import Condition, Operator
from server.platform.query.fields import Field, FieldType

Reading = Callable[[bool], Clauses] | Callable[[Sequence[str]], Clauses] | Callable[[Message], Clauses]
"""From a field's value: a bool, texts, or an operator object."""


def contains_every(name: str) -> Reading:
    """Make a list of texts ask that the row's texts `name` hold every one of them."""
    field = Field(name, FieldType.TEXTS)
    return lambda texts: (Condition(field, Operator.CONTAINS_EVERY, tuple(texts)),)


def contains_none(name: str) -> Reading:
    """Make a list of texts ask that the row's texts `name` hold none of them."""
    field = Field(name, FieldType.TEXTS)
    return lambda texts: (Condition(field, Operator.CONTAINS_NONE, tuple(texts)),)


def longer_than(name: str, length: int) -> Reading:
    """Make a bool ask whether the row's text `name` has more than `length` characters."""
    field = Field(name, FieldType.TEXT)
    operators = {True: Operator.LONGER_THAN, False: Operator.NOT_LONGER_THAN}
    return lambda is_wanted: (Condition(field, operators[bool(is_wanted)], length),)


def only_if_true(name: str) -> Reading:
    """Make True keep the rows whose `name` is true, and False keep all."""
    condition = Condition(Field(name, FieldType.BOOLEAN), Operator.EQ, operand=True)
    return lambda is_wanted: (condition,) if is_wanted else ()


def has_related(key: str, entity: type, link: str, *conditions: Condition) -> Reading:
    """Make a bool ask whether a row of another entity belongs to the row and meets the conditions."""
    field = Field(key, FieldType.INTEGER)
    return lambda is_wanted: (Related(field, entity, link, conditions, bool(is_wanted)),)
