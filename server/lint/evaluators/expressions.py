"""Checks that expressions parse, and that constant expressions give a valid result."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

from server import feel
from server.bpmn import timer_values
from server.bpmn.timer_values import MalformedTimer
from server.lint.paths import written
from server.lint.rule import Rule
from server.lint.subject import Subject
from server.lint.violation import Violation
from server.xml import Markup

CONSTANT_STEPS: Final = 100_000
"""Most evaluation steps of an expression in a check."""

# Any time will do, because only the type of the result matters.
_SOME_TIME = datetime(2000, 1, 1, tzinfo=UTC)

# The name of the cluster variables in expressions.
_CLUSTER_VARIABLES = "camunda"


def feel_expression(subject: Subject, rule: Rule) -> Iterator[Violation]:
    """Parse texts that start with `=`; with `expression-only`, every text must start with it."""
    for path in rule.attribute:
        for at, text in written(subject, path):
            if text.startswith("="):
                yield from syntax(path, text[1:], at)
            elif "expression-only" in rule.value:
                yield Violation(f"{path} does not start with =, found {text or 'nothing'}", at)


def constant_expression(subject: Subject, rule: Rule) -> Iterator[Violation]:
    """Evaluate expressions without variables; the result must be of the kind that `value` states for the path.

    Expressions that read cluster variables are checked by the deployment, because only the engine knows them.
    """
    for path, kind in zip(rule.attribute, rule.value, strict=True):
        for at, text in written(subject, path):
            reason = _unfit(text.strip()[1:], kind) if text.strip().startswith("=") else ""
            if reason:
                yield Violation(f"{path}: {reason}", at)


def _unfit(expression: str, kind: str) -> str:
    """Return the error of an expression evaluated without variables, empty if none; syntax errors are another rule's."""
    ports = feel.Ports(now=_SOME_TIME, budget=feel.Budget(CONSTANT_STEPS))
    try:
        compiled = feel.compile_expression(expression)
        if _CLUSTER_VARIABLES in compiled.variables:
            return ""
        _EXPECTED[kind](compiled.evaluate({}, ports).value)
    except feel.FeelSyntaxError:
        return ""
    except (feel.EvaluationError, MalformedTimer) as error:
        return str(error)
    return ""


def _string(value: feel.Value) -> None:
    if not isinstance(value, str):
        raise MalformedTimer("expected a text without variables")


def _cycle(value: feel.Value) -> None:
    timer_values.cycle(timer_values.text_of(value))


_EXPECTED: Mapping[str, Callable[[feel.Value], object]] = {
    "string": _string,
    "date": timer_values.date_of,
    "cycle": _cycle,
}


def syntax(path: str, expression: str, at: Markup) -> Iterator[Violation]:
    """Parse an expression without its leading `=`, and yield its syntax error."""
    try:
        feel.compile_expression(expression)
    except feel.FeelSyntaxError as error:
        yield Violation(f"{path}: {error}", at)
