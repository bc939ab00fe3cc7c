"""Errors of models; failures of an evaluation are part of its result, see `results`.

DmnError
├── DmnReadError   the bytes are not a supported DMN document
└── DmnModelError  the document has problems and cannot be evaluated
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

MAX_MESSAGE_LENGTH: Final = 500
"""Longest message; the names and references that it quotes can be as long as a file."""


class DmnError(Exception):
    """An error of a model; `line` is 0 if unknown."""

    def __init__(self, message: str, line: int = 0) -> None:
        short = _shortened(message)
        super().__init__(f"{short} (line {line})" if line else short)
        self.line = line


class DmnReadError(DmnError):
    pass


class ProblemKind(StrEnum):
    """The kinds of problem, named like the linter's rules."""

    DECISION_LOGIC = "dmn-decision-logic"
    REQUIREMENT_CYCLE = "dmn-requirement-cycle"
    REQUIREMENT_RESOLVES = "dmn-requirement-resolves"
    EXPRESSION = "dmn-expression"
    EXPRESSION_EMPTY = "dmn-expression-empty"
    UNARY_TESTS = "dmn-unary-tests"
    EXPRESSION_LANGUAGE = "dmn-expression-language"
    OUTPUT_NAME = "dmn-output-name"
    COLLECT_SINGLE_OUTPUT = "dmn-collect-single-output"
    INVOCATION_TARGET = "dmn-invocation-target"
    TYPE = "dmn-type"
    IMPORT = "dmn-import"
    TOO_LARGE = "dmn-too-large"


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of one element; `element_id` is empty if the file has none."""

    kind: ProblemKind
    element_id: str
    line: int
    message: str

    def __str__(self) -> str:
        where = f"{self.element_id or 'an element'} (line {self.line}): " if self.line else ""
        return _shortened(where + self.message)


class DmnModelError(DmnError):
    """The model has problems; `problems` lists all of them, the message names the first."""

    def __init__(self, *problems: Problem) -> None:
        first, *rest = problems
        super().__init__(f"{first}; {len(rest)} more" if rest else str(first))
        self.line = first.line
        self.problems = problems


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_MESSAGE_LENGTH else f"{text[:MAX_MESSAGE_LENGTH]}…"
