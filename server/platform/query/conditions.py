"""Conditions on the fields of a row, as data."""

from dataclasses import dataclass
from enum import StrEnum

from server.platform.query.fields import Field, Scalar


class Operator(StrEnum):
    """Those of the contract's filter messages by their names there, then those that only readings make.

    NEQ, NOT_IN and NOT_LIKE hold for a missing value; every other one but EXISTS needs a value to hold. On a list of texts, one
    item is enough; NEQ, NOT_IN and NOT_LIKE ask it of all items, EXISTS asks for an item.
    BEGINS is a condition on words alone: one of them begins with the operand.
    """

    EQ = "eq"
    NEQ = "neq"
    EXISTS = "exists"
    IN = "in"
    NOT_IN = "not_in"
    LIKE = "like"
    NOT_LIKE = "not_like"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    CONTAINS_EVERY = "contains_every"
    CONTAINS_NONE = "contains_none"
    LONGER_THAN = "longer_than"
    NOT_LONGER_THAN = "not_longer_than"
    BEGINS = "begins"


@dataclass(frozen=True, slots=True)
class Condition:
    """The operand is a tuple for IN, NOT_IN and CONTAINS_…, a bool for EXISTS, a text pattern for LIKE and NOT_LIKE."""

    field: Field
    operator: Operator
    operand: Scalar | tuple[Scalar, ...]


Conditions = tuple[Condition, ...]
