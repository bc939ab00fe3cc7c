"""Failures of an evaluation beside its result: the reasons why something in it became null."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from server.feel.values import Value


class FailureType(StrEnum):
    NO_VARIABLE_FOUND = "NO_VARIABLE_FOUND"
    NO_CONTEXT_ENTRY_FOUND = "NO_CONTEXT_ENTRY_FOUND"
    NO_PROPERTY_FOUND = "NO_PROPERTY_FOUND"
    NOT_COMPARABLE = "NOT_COMPARABLE"
    INVALID_TYPE = "INVALID_TYPE"
    NO_FUNCTION_FOUND = "NO_FUNCTION_FOUND"
    FUNCTION_INVOCATION_FAILURE = "FUNCTION_INVOCATION_FAILURE"


@dataclass(frozen=True, slots=True)
class Failure:
    """`position` is the offset in the text, None where only a value is to blame."""

    type: FailureType
    message: str
    position: int | None = None


class Evaluation(NamedTuple):
    """A tuple, since making a frozen dataclass takes as long as a short expression."""

    value: Value
    failures: tuple[Failure, ...] = ()
