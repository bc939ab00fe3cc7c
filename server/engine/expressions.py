"""Evaluates attributes of the model: static text is taken as it is, expressions are evaluated by FEEL.

A failure becomes an incident with the expression, its result and FEEL's own failures.
"""

import re
from datetime import datetime
from decimal import Decimal
from functools import lru_cache

from server import feel
from server.bpmn import timer_values
from server.bpmn.executable import Attribute, Expression, Flow, Static
from server.bpmn.timer_values import MalformedTimer
from server.engine.incidents import ErrorType, Incident
from server.engine.scopes import VariableScope

# The bounds of an int32 in the wire format.
MIN_INTEGER, MAX_INTEGER = -(2**31), 2**31 - 1

# Enough for the static retries of all tasks in active models.
CACHED_INTEGERS = 1024
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


def key_text_of(attribute: Attribute, scope: VariableScope) -> str:
    """A correlation key, which may be a string or a number."""
    if isinstance(attribute, Static):
        return attribute.text
    evaluation = _evaluate(attribute, scope)
    value = evaluation.value
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise _unexpected(attribute, "STRING or NUMBER", evaluation)
    return f"{Decimal(value).normalize():f}"


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


@lru_cache(CACHED_INTEGERS)
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


def strings_of(attribute: Attribute, scope: VariableScope) -> tuple[str, ...]:
    """The items of a list; static text is split at commas."""
    if isinstance(attribute, Static):
        return tuple(filter(None, map(str.strip, attribute.text.split(","))))
    return _strings(attribute, _evaluate(attribute, scope))


def some_strings_of(expression: Expression, scope: VariableScope) -> tuple[str, ...]:
    """The items of a list; null counts as an empty list."""
    evaluation = _evaluate(expression, scope)
    return () if evaluation.value is None else _strings(expression, evaluation)


def _strings(attribute: Expression, evaluation: feel.Evaluation) -> tuple[str, ...]:
    if not isinstance(evaluation.value, list):
        raise _unexpected(attribute, "ARRAY", evaluation)
    strings = tuple([item for item in evaluation.value if isinstance(item, str)])
    if len(strings) < len(evaluation.value):
        raise Incident(
            ErrorType.EXTRACT_VALUE_ERROR,
            f"Expected result of the expression '{attribute.text}' to be an 'ARRAY' of 'STRING', "
            "but it has other items.",
        )
    return strings


def moment_of(attribute: Attribute, scope: VariableScope) -> datetime | None:
    """A date and time with an offset, as a FEEL value or an ISO 8601 string; None for null."""
    value = value_of(attribute, scope)
    if value is None:
        return None
    try:
        if isinstance(value, feel.DateTime):
            return timer_values.instant(value)
        if isinstance(value, str):
            return timer_values.date(value.strip())
    except MalformedTimer as error:
        raise Incident(ErrorType.EXTRACT_VALUE_ERROR, f"'{attribute.text}': {error}") from error
    found = _TYPE_NAMES.get(type(value), "UNKNOWN")
    raise Incident(
        ErrorType.EXTRACT_VALUE_ERROR,
        f"Expected result of the expression '{attribute.text}' to be a date and time, but was '{found}'.",
    )


def list_of(expression: Expression, scope: VariableScope) -> list[feel.Value]:
    evaluation = _evaluate(expression, scope)
    if not isinstance(evaluation.value, list):
        raise _unexpected(expression, "ARRAY", evaluation)
    return evaluation.value


def is_true(
    condition: Expression, scope: VariableScope, *, failing_as: ErrorType = ErrorType.EXTRACT_VALUE_ERROR
) -> bool:
    evaluation = _evaluate(condition, scope, failing_as)
    if not isinstance(evaluation.value, bool):
        raise _unexpected(condition, "BOOLEAN", evaluation, failing_as)
    return evaluation.value


def is_followed(flow: Flow, scope: VariableScope) -> bool:
    """Whether the condition of a non-default flow is true."""
    if flow.condition is None:
        return True
    return is_true(flow.condition, scope, failing_as=ErrorType.CONDITION_ERROR)


def is_met(condition: Expression, scope: VariableScope) -> bool:
    """Whether the condition of an event is true; null counts as false."""
    evaluation = _evaluate(condition, scope)
    if evaluation.value is not None and not isinstance(evaluation.value, bool):
        raise _unexpected(condition, "BOOLEAN", evaluation)
    return bool(evaluation.value)


def _evaluate(
    expression: Expression,
    scope: VariableScope,
    failing_as: ErrorType = ErrorType.EXTRACT_VALUE_ERROR,
) -> feel.Evaluation:
    try:
        return expression.evaluate(scope, scope.ports)
    except feel.EvaluationError as error:
        message = f"Failed to evaluate the expression '{expression.text}': {error}"
        raise Incident(failing_as, message) from error


def _unexpected(
    expression: Expression,
    expected: str,
    evaluation: feel.Evaluation,
    failing_as: ErrorType = ErrorType.EXTRACT_VALUE_ERROR,
) -> Incident:
    found = _TYPE_NAMES.get(type(evaluation.value), "UNKNOWN")
    message = f"Expected result of the expression '{expression.text}' to be '{expected}', but was '{found}'."
    if evaluation.failures:
        warnings = "\n".join(f"[{failure.type}] {failure.message}" for failure in evaluation.failures)
        message = f"{message} The evaluation reported the following warnings:\n{warnings}"
    return Incident(failing_as, message)
