"""What an evaluator says about a subject that breaks a rule."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from server.lint.rule import Rule
from server.lint.subject import Subject
from server.xml import Markup


@dataclass(frozen=True, slots=True)
class Violation:
    """What was found instead, and the element to name where it is another than the subject."""

    detail: str
    at: Markup | None = None


Evaluator = Callable[[Subject, Rule], Iterator[Violation]]
