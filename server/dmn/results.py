"""Results of an evaluation: the value, and the trace of every decision on the way."""

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
    """The facts about a decision that do not depend on an evaluation."""

    id: str
    name: str
    type: DecisionType


@dataclass(frozen=True, slots=True)
class DecisionFailure:
    """Why something became null, or why there is no result; the element id may be empty."""

    decision_id: str
    element_id: str
    message: str


@dataclass(frozen=True, slots=True)
class EvaluatedInput:
    """`name` is the clause's label, else its expression."""

    id: str
    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class EvaluatedOutput:
    """`name` is the clause's label, else its name."""

    id: str
    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class MatchedRule:
    """`index` counts from one."""

    id: str
    index: int
    outputs: tuple[EvaluatedOutput, ...]


@dataclass(frozen=True, slots=True)
class EvaluatedDecision:
    """`inputs` and `matched_rules` are those of a decision table; a decision of another type has none."""

    id: str
    name: str
    type: DecisionType
    value: Value
    inputs: tuple[EvaluatedInput, ...] = ()
    matched_rules: tuple[MatchedRule, ...] = ()


@dataclass(frozen=True, slots=True)
class DecisionEvaluation:
    """`evaluated` is in the order of evaluation, the decision that was asked for comes last.

    `failures` stand beside a result; `failure` says that there is none, the value is null then.
    """

    id: str
    name: str
    value: Value
    evaluated: tuple[EvaluatedDecision, ...] = ()
    failures: tuple[DecisionFailure, ...] = ()
    failure: DecisionFailure | None = None
