"""Results of an evaluation: the value, and a trace of all evaluated decisions."""

from dataclasses import dataclass
from enum import StrEnum

from server.feel import Value


class DecisionType(StrEnum):
    """The kind of a decision's logic."""

    DECISION_TABLE = "DECISION_TABLE"
    LITERAL_EXPRESSION = "LITERAL_EXPRESSION"
    CONTEXT = "CONTEXT"
    LIST = "LIST"
    RELATION = "RELATION"
    INVOCATION = "INVOCATION"
    FUNCTION_DEFINITION = "FUNCTION_DEFINITION"
    CONDITIONAL = "CONDITIONAL"
    FOR = "FOR"
    QUANTIFIED = "QUANTIFIED"
    FILTER = "FILTER"
    UNSPECIFIED = "UNSPECIFIED"


@dataclass(frozen=True, slots=True)
class DecisionOutline:
    """Facts about a decision that do not depend on an evaluation."""

    id: str
    name: str
    type: DecisionType


@dataclass(frozen=True, slots=True)
class DecisionFailure:
    """The reason for a null value or a missing result; the element id can be empty."""

    decision_id: str
    element_id: str
    message: str


@dataclass(frozen=True, slots=True)
class EvaluatedInput:
    """An evaluated input; `name` is the clause's label, else its expression."""

    id: str
    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class EvaluatedOutput:
    """An evaluated output; `name` is the clause's label, else its name."""

    id: str
    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class MatchedRule:
    """A matched rule; `index` counts from 1."""

    id: str
    index: int
    outputs: tuple[EvaluatedOutput, ...]


@dataclass(frozen=True, slots=True)
class EvaluatedDecision:
    """An evaluated decision; only decision tables have `inputs` and `matched_rules`."""

    id: str
    name: str
    type: DecisionType
    value: Value
    inputs: tuple[EvaluatedInput, ...] = ()
    matched_rules: tuple[MatchedRule, ...] = ()


@dataclass(frozen=True, slots=True)
class DecisionEvaluation:
    """The result of an evaluation; `evaluated` is in evaluation order and ends with the requested decision.

    `failures` accompany a result. If `failure` is set, there is no result and the value is null.
    """

    id: str
    name: str
    value: Value
    evaluated: tuple[EvaluatedDecision, ...] = ()
    failures: tuple[DecisionFailure, ...] = ()
    failure: DecisionFailure | None = None
