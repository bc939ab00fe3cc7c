"""Checks that expressions parse."""

from collections.abc import Iterator

from server import feel
from server.lint.paths import written
from server.lint.rule import Rule
from server.lint.subject import Subject
from server.lint.violation import Violation
from server.xml import Markup


def feel_expression(subject: Subject, rule: Rule) -> Iterator[Violation]:
    """Parse what starts with `=`; with `expression-only` everything must start so."""
    for path in rule.attribute:
        for at, text in written(subject, path):
            if text.startswith("="):
                yield from syntax(path, text[1:], at)
            elif "expression-only" in rule.value:
                yield Violation(f"{path} does not start with =, found {text or 'nothing'}", at)


def syntax(path: str, expression: str, at: Markup) -> Iterator[Violation]:
    """Parse an expression without its leading `=`."""
    try:
        feel.compile_expression(expression)
    except feel.FeelSyntaxError as error:
        yield Violation(f"{path} at position {error.position}: {error.message}", at)
