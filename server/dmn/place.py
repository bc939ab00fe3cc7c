"""The place of an expression in a model: the visible names, and the compilation of texts and types."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from server import feel
from server.dmn.boxed import Element, Expression, LiteralExpression, UnaryTests
from server.dmn.dialects import Dialect
from server.dmn.errors import Problem, ProblemKind
from server.dmn.item_types import ItemTypes
from server.dmn.names import Names
from server.dmn.session import Evaluate, Frame, Session
from server.dmn.texts import Texts
from server.dmn.types import ANY, Type, converted
from server.feel import MISSING, Value
from server.feel.printer import printed_type
from server.feel.text import shown

Compile: TypeAlias = "Callable[[Expression, Place], Evaluate]"


@dataclass(frozen=True, slots=True)
class Place:
    """A place; `functions` are the model's functions, `seen` the names bound here."""

    texts: Texts
    types: ItemTypes
    names: Names
    functions: frozenset[str]
    seen: frozenset[str]
    compile_logic: Compile

    @property
    def dialect(self) -> Dialect:
        return self.texts.dialect

    def inner(self, names: Iterable[str]) -> "Place":
        """Return an inner place that sees more names."""
        more = frozenset(names)
        return replace(self, names=self.names.and_also(more), seen=self.seen | more)

    def compile(self, expression: Expression) -> Evaluate:
        """Compile an expression whose value is converted to its declared type."""
        return self.typed(self.compile_logic(expression, self), expression.type_ref, expression)

    def expression(self, literal: LiteralExpression) -> feel.Expression | None:
        return self.texts.expression(literal, self.names)

    def may_be_plain(self, part: LiteralExpression | UnaryTests) -> bool:
        """Whether a text in the form of a constant is a constant here."""
        return self.texts.may_be_plain(part.language, part.text, self.names)

    def unary_tests(self, tests: UnaryTests) -> feel.UnaryTests | None:
        return self.texts.unary_tests(tests, self.names)

    def typed(self, evaluate: Evaluate, type_ref: str | None, at: Element) -> Evaluate:
        """Convert the value to a type if the dialect converts values."""
        target = self.type(type_ref, at)
        if target == ANY:
            return evaluate

        def typed(frame: Frame) -> Value:
            return checked(frame.session, evaluate(frame), target, at.id)

        return typed

    def type(self, type_ref: str | None, at: Element) -> Type:
        return self.types.named(type_ref, at) if self.dialect.converts_values else ANY

    def problem(self, at: Element, kind: ProblemKind, message: str) -> Evaluate:
        """Record a problem, and return logic that evaluates to null with a failure."""
        self.texts.problems.append(Problem(kind, at.id, at.line, message))
        return unusable(at, message)


def unusable(at: Element, message: str) -> Evaluate:
    def null(frame: Frame) -> Value:
        frame.session.note(at.id, message)
        return None

    return null


def checked(session: Session, value: Value, target: Type, element_id: str) -> Value:
    """Convert a value; if that is impossible, record a failure and return null."""
    result = converted(value, target)
    if result is not MISSING:
        return result
    session.note(element_id, f"expected '{printed_type(target.feel)}' but found '{shown(value)}'")
    return None
