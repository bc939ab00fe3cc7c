"""Conditions as data, and the readings that make conditions of filter fields without operators."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from server.platform.query.fields import Field, FieldType, Scalar


class Operator(StrEnum):
    """Those of the contract's filter messages by their names there, then those that only readings make.

    NEQ and NOT_IN hold for a missing value; every other one but EXISTS needs a value to hold.
    """

    EQ = "eq"
    NEQ = "neq"
    EXISTS = "exists"
    IN = "in"
    NOT_IN = "not_in"
    LIKE = "like"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    CONTAINS_EVERY = "contains_every"
    CONTAINS_NONE = "contains_none"
    LONGER_THAN = "longer_than"
    NOT_LONGER_THAN = "not_longer_than"


@dataclass(frozen=True, slots=True)
class Condition:
    """The operand is a tuple for IN, NOT_IN and CONTAINS_…, a bool for EXISTS, a text pattern for LIKE."""

    field: Field
    operator: Operator
    operand: Scalar | tuple[Scalar, ...]


Conditions = tuple[Condition, ...]
Reading = Callable[[bool], Conditions] | Callable[[Sequence[str]], Conditions]


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
