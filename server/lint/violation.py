"""Violations of rules by a subject."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from server.lint.rule import Rule
from server.lint.subject import Subject
from server.xml import Markup


@dataclass(frozen=True, slots=True)
class Violation:
    """A violation, and the element to report if it is not the subject."""

    detail: str
    at: Markup | None = None


Evaluator = Callable[[Subject, Rule], Iterator[Violation]]
