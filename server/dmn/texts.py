"""Compiles a model's texts; an invalid FEEL text is a problem and gives None."""

from dataclasses import dataclass
from typing import Final

from server import feel
from server.dmn.boxed import Element, LiteralExpression, UnaryTests
from server.dmn.dialects import Dialect
from server.dmn.errors import Problem, ProblemKind
from server.dmn.names import Names

_FEEL: Final = frozenset({
    "feel",
    "http://www.omg.org/spec/FEEL/20140401",
    "http://www.omg.org/spec/DMN/20180521/FEEL/",
    "https://www.omg.org/spec/DMN/20191111/FEEL/",
    "https://www.omg.org/spec/DMN/20211108/FEEL/",
    "https://www.omg.org/spec/DMN/20230324/FEEL/",
    "https://www.omg.org/spec/DMN/20240513/FEEL/",
})  # fmt: skip
_SHOWN_TEXT: Final = 200


@dataclass(frozen=True, slots=True)
class Texts:
    """Compiles texts; `language` is the model's expression language, None means FEEL."""

    dialect: Dialect
    language: str | None
    problems: list[Problem]

    def expression(self, literal: LiteralExpression, names: Names) -> feel.Expression | None:
        if not self._is_feel(literal.language, literal):
            return None
        if not literal.text:
            self._complain(ProblemKind.EXPRESSION_EMPTY, literal, "expected an expression, found none")
            return None
        try:
            return feel.compile_expression(
                literal.text, names=names.within(literal.text), dialect=self.dialect.name
            )
        except feel.FeelSyntaxError as error:
            self._complain(ProblemKind.EXPRESSION, literal, _no_feel(literal.text, error))
            return None

    def unary_tests(self, tests: UnaryTests, names: Names) -> feel.UnaryTests | None:
        if not self._is_feel(tests.language, tests):
            return None
        try:
            return feel.compile_unary_tests(
                tests.text, names=names.within(tests.text), dialect=self.dialect.name
            )
        except feel.FeelSyntaxError as error:
            self._complain(ProblemKind.UNARY_TESTS, tests, _no_feel(tests.text, error))
            return None

    def may_be_plain(self, language: str | None, text: str, names: Names) -> bool:
        """Whether the text is FEEL and contains no name that is not a plain word."""
        written = language or self.language
        return (written is None or written in _FEEL) and not names.within(text)

    def _is_feel(self, language: str | None, at: Element) -> bool:
        written = language or self.language
        if written is None or written.lower() in _FEEL or written in _FEEL:
            return True
        message = f"expected FEEL, found an expression in {written}"
        self._complain(ProblemKind.EXPRESSION_LANGUAGE, at, message)
        return False

    def _complain(self, kind: ProblemKind, at: Element, message: str) -> None:
        self.problems.append(Problem(kind, at.id, at.line, message))


def _no_feel(text: str, error: feel.FeelSyntaxError) -> str:
    return f"expected FEEL, found '{text[:_SHOWN_TEXT]}': {error}"
