"""DMN 1.1 to 1.6: from the bytes of a file to decisions that are evaluated.

    decisions = compile_definitions(xml, dialect="standard")
    decisions.evaluate("discount", {"customer": "Business", "order size": 12}).value

    compile_definitions(xml, *, imports=(), dialect="camunda") -> Decisions
    decisions_of(definitions, *, imports=(), dialect="camunda") -> Decisions
    Decisions.evaluate(decision_id, variables, *, ports=NO_PORTS) -> DecisionEvaluation

reader (XML to model) → compiler (model to nodes, with FEEL compiled and tables indexed) → decisions. A model is
compiled once and evaluated any number of times; nothing here waits, logs or touches the network.
"""

from server.dmn.boxed_reader import EXPRESSION_TAGS
from server.dmn.decisions import Decisions, compile_definitions, decisions_of
from server.dmn.errors import DmnError, DmnModelError, DmnReadError, Problem, ProblemKind
from server.dmn.results import (
    DecisionEvaluation,
    DecisionFailure,
    DecisionOutline,
    DecisionType,
    EvaluatedDecision,
    EvaluatedInput,
    EvaluatedOutput,
    MatchedRule,
)

__all__ = [
    "EXPRESSION_TAGS",
    "DecisionEvaluation",
    "DecisionFailure",
    "DecisionOutline",
    "DecisionType",
    "Decisions",
    "DmnError",
    "DmnModelError",
    "DmnReadError",
    "EvaluatedDecision",
    "EvaluatedInput",
    "EvaluatedOutput",
    "MatchedRule",
    "Problem",
    "ProblemKind",
    "compile_definitions",
    "decisions_of",
]
