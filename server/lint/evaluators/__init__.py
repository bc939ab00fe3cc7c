"""The evaluators, one function per kind of check.

An evaluator takes a subject and a rule whose `applies_to` matches it, and yields the violations.
"""

from collections.abc import Mapping

from server.lint.evaluators.custom import custom
from server.lint.evaluators.expressions import constant_expression, feel_expression
from server.lint.evaluators.graphs import graph
from server.lint.evaluators.literals import forbidden_value, max_length, pattern
from server.lint.evaluators.numbers import count, exactly_one_of, flow_count, number_range
from server.lint.evaluators.presence import reference, required_attribute, unique
from server.lint.evaluators.schema import schema, supported_type
from server.lint.evaluators.timers import timer
from server.lint.rule import EvaluatorKind
from server.lint.violation import Evaluator

EVALUATORS: Mapping[EvaluatorKind, Evaluator] = {
    EvaluatorKind.SCHEMA: schema,
    EvaluatorKind.REQUIRED_ATTRIBUTE: required_attribute,
    EvaluatorKind.FORBIDDEN_VALUE: forbidden_value,
    EvaluatorKind.SUPPORTED_TYPE: supported_type,
    EvaluatorKind.MAX_LENGTH: max_length,
    EvaluatorKind.PATTERN: pattern,
    EvaluatorKind.NUMBER_RANGE: number_range,
    EvaluatorKind.COUNT: count,
    EvaluatorKind.FLOW_COUNT: flow_count,
    EvaluatorKind.EXACTLY_ONE_OF: exactly_one_of,
    EvaluatorKind.UNIQUE: unique,
    EvaluatorKind.REFERENCE: reference,
    EvaluatorKind.FEEL_EXPRESSION: feel_expression,
    EvaluatorKind.CONSTANT_EXPRESSION: constant_expression,
    EvaluatorKind.TIMER: timer,
    EvaluatorKind.GRAPH: graph,
    EvaluatorKind.CUSTOM: custom,
}
