"""Checks that expressions parse, and that those that are evaluated without variables give what they have to."""

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
"""Steps that an expression may take when it is evaluated here."""

# Any time will do: the kind of the result is looked at.
_SOME_TIME = datetime(2000, 1, 1, tzinfo=UTC)

# The variable under which expressions find them.
_CLUSTER_VARIABLES = "camunda"


def feel_expression(subject: Subject, rule: Rule) -> Iterator[Violation]:
    """Parse what starts with `=`; with `expression-only` everything must start so."""
    for path in rule.attribute:
        for at, text in written(subject, path):
            if text.startswith("="):
                yield from syntax(path, text[1:], at)
            elif "expression-only" in rule.value:
                yield Violation(f"{path} does not start with =, found {text or 'nothing'}", at)


def constant_expression(subject: Subject, rule: Rule) -> Iterator[Violation]:
    """Evaluate what starts with `=` without variables; it has to give what `value` says of its path.

    The deployment evaluates those that read cluster variables, which only the engine knows.
    """
    for path, kind in zip(rule.attribute, rule.value, strict=True):
        for at, text in written(subject, path):
            reason = _unfit(text.strip()[1:], kind) if text.strip().startswith("=") else ""
            if reason:
                yield Violation(f"{path}: {reason}", at)


def _unfit(expression: str, kind: str) -> str:
    """The fault of an expression that is evaluated without variables, empty if it has none; syntax is another rule's."""
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
    """Parse an expression without its leading `=`."""
    try:
        feel.compile_expression(expression)
    except feel.FeelSyntaxError as error:
        yield Violation(f"{path}: {error}", at)
