"""Checks of text values."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from server.lint.paths import written
from server.lint.rule import Rule
from server.lint.subject import Subject
from server.lint.violation import Violation


def forbidden_value(subject: Subject, rule: Rule) -> Iterator[Violation]:
    """Refuse the texts in `value`; `*` matches any text."""
    for path in rule.attribute:
        for at, text in written(subject, path):
            if any(fnmatchcase(text, forbidden) for forbidden in rule.value):
                yield Violation(f"{path} is {text}", at)


def max_length(subject: Subject, rule: Rule) -> Iterator[Violation]:
    """Limit the number of characters; expressions are exempt unless `value` contains `literal`."""
    is_literal = "literal" in rule.value
    for path in rule.attribute:
        for at, text in written(subject, path):
            if (is_literal or not text.startswith("=")) and not rule.bounds.hold(len(text)):
                yield Violation(f"expected {rule.bounds} characters in {path}, found {len(text)}", at)


def pattern(subject: Subject, rule: Rule) -> Iterator[Violation]:
    """Require that the whole text matches one of the patterns in `value`."""
    for path in rule.attribute:
        for at, text in written(subject, path):
            if not any(re.fullmatch(regex, text) for regex in rule.value):
                yield Violation(f"{path} is {text}", at)
