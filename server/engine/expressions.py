"""Attributes of the model become values: static text as it stands, expressions by FEEL in Camunda's dialect.

A failure is an incident that says which expression gave what, with FEEL's own failures.
"""

import re
from decimal import Decimal

from server import feel
from server.bpmn.executable import Attribute, Static
from server.engine.incidents import ErrorType, Incident
from server.engine.scopes import VariableScope

# An int32 of the wire.
MIN_INTEGER, MAX_INTEGER = -(2**31), 2**31 - 1

_INTEGER = re.compile(r"[+-]?[0-9]{1,10}")

_TYPE_NAMES = {
    type(None): "NULL",
    bool: "BOOLEAN",
    int: "NUMBER",
    Decimal: "NUMBER",
    str: "STRING",
    list: "ARRAY",
    dict: "OBJECT",
}


def value_of(
    attribute: Attribute, scope: VariableScope, *, failing_as: ErrorType = ErrorType.EXTRACT_VALUE_ERROR
) -> feel.Value:
    if isinstance(attribute, Static):
        return attribute.text
    return _evaluate(attribute, scope, failing_as).value


def string_of(attribute: Attribute, scope: VariableScope) -> str:
    if isinstance(attribute, Static):
        return attribute.text
    evaluation = _evaluate(attribute, scope)
    if not isinstance(evaluation.value, str):
        raise _unexpected(attribute, "STRING", evaluation)
    return evaluation.value


def integer_of(attribute: Attribute, scope: VariableScope) -> int:
    if isinstance(attribute, Static):
        return _integer(attribute.text)
    evaluation = _evaluate(attribute, scope)
    value = evaluation.value
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise _unexpected(attribute, "NUMBER", evaluation)
    if not MIN_INTEGER <= value <= MAX_INTEGER:
        raise _out_of_bounds(attribute.text)
    return int(value)


def _integer(text: str) -> int:
    if not _INTEGER.fullmatch(text.strip()):
        raise Incident(ErrorType.EXTRACT_VALUE_ERROR, f"Expected '{text}' to be a number")
    value = int(text)
    if not MIN_INTEGER <= value <= MAX_INTEGER:
        raise _out_of_bounds(text)
    return value


def _out_of_bounds(text: str) -> Incident:
    message = f"Expected '{text}' to be a number from {MIN_INTEGER} to {MAX_INTEGER}"
    return Incident(ErrorType.EXTRACT_VALUE_ERROR, message)


def is_true(condition: feel.Expression, scope: VariableScope) -> bool:
    evaluation = _evaluate(condition, scope)
    if not isinstance(evaluation.value, bool):
        raise _unexpected(condition, "BOOLEAN", evaluation)
    return evaluation.value


def _evaluate(
    expression: feel.Expression,
    scope: VariableScope,
    failing_as: ErrorType = ErrorType.EXTRACT_VALUE_ERROR,
) -> feel.Evaluation:
    try:
        return expression.evaluate(scope, scope.ports)
    except feel.EvaluationError as error:
        message = f"Failed to evaluate the expression '{expression.text}': {error}"
        raise Incident(failing_as, message) from error


def _unexpected(expression: feel.Expression, expected: str, evaluation: feel.Evaluation) -> Incident:
    found = _TYPE_NAMES.get(type(evaluation.value), "UNKNOWN")
    message = f"Expected result of the expression '{expression.text}' to be '{expected}', but was '{found}'."
    if evaluation.failures:
        warnings = "\n".join(f"[{failure.type}] {failure.message}" for failure in evaluation.failures)
        message = f"{message} The evaluation reported the following warnings:\n{warnings}"
    return Incident(ErrorType.EXTRACT_VALUE_ERROR, message)
