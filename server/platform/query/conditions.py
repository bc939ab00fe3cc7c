"""Conditions on the fields of a row, as data."""

from dataclasses import dataclass
from enum import StrEnum

from server.platform.query.fields import Field, Scalar


class Operator(StrEnum):
    """Operators: those of the contract's filter messages, under the same names, and those that only readings create.

    NEQ, NOT_IN and NOT_LIKE are true for a missing value; all others except EXISTS are false for it. On a
    list of texts, a condition is true if one item meets it. NEQ, NOT_IN and NOT_LIKE must be true for all
    items; EXISTS tests for any item.

    BEGINS is for word fields only: one word must begin with the operand.
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
    """A condition on one field of a row.

    The operand is a tuple for IN, NOT_IN and CONTAINS_…, a bool for EXISTS, a pattern for LIKE and NOT_LIKE.
    """

    field: Field
    operator: Operator
    operand: Scalar | tuple[Scalar, ...]


Conditions = tuple[Condition, ...]
