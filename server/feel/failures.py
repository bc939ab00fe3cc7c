"""Failures of an evaluation: the reasons for null values in it."""

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
    """A failure; `position` is the offset in the text, or None if only a value caused it."""

    type: FailureType
    message: str
    position: int | None = None


class Evaluation(NamedTuple):
    """The result of an evaluation; a tuple, because creating a frozen dataclass takes as long as a short expression."""

    value: Value
    failures: tuple[Failure, ...] = ()
