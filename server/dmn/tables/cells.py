"""Input entries that compare with constants, as spans of values for the index.

FEEL evaluates all other entries.
"""

from collections.abc import Mapping
from decimal import Decimal
from types import NoneType
from typing import Any, Final, TypeAlias

import msgspec

from server.feel import Date, DaysDuration, MonthsDuration, Value, decimals
from server.feel.nodes import Call, InputComparison, Literal, Negation, Node, RangeLiteral, Tests
from server.feel.temporal import parser

Cut: TypeAlias = tuple[Any, int]
"""A position between values of one kind: `(v, 0)` is just before v, `(v, 1)` just after it."""

KINDS: Final[Mapping[type, type]] = {
    int: Decimal,
    Decimal: Decimal,
    str: str,
    Date: Date,
    DaysDuration: DaysDuration,
    MonthsDuration: MonthsDuration,
    bool: bool,
    NoneType: NoneType,
}
"""The kind of each type; values of one kind are comparable, and all numbers have one kind."""

EQUATED_ONLY: Final = frozenset({bool, NoneType})


class Span(msgspec.Struct, frozen=True, gc=False):
    """The values of one kind between two cuts; None means unbounded."""

    kind: type
    start: Cut | None
    end: Cut | None


class _NotConstantError(Exception):
    pass


def spans_of(tests: Tests) -> tuple[Span, ...] | None:
    """Return the spans of which one must contain the input; None for tests that are not spans."""
    if tests.is_negated:
        return None
    try:
        return tuple(map(_span, tests.tests))
    except _NotConstantError:
        return None


def _span(node: Node) -> Span:
    if isinstance(node, InputComparison):
        return _comparison(node)
    if isinstance(node, RangeLiteral):
        return _range(node)
    kind, value = _constant(node)
    return Span(kind, (value, 0), (value, 1))


def _comparison(node: InputComparison) -> Span:
    kind, bound = _ordered(node.operand)
    match node.operator:
        case "<":
            return Span(kind, None, (bound, 0))
        case "<=":
            return Span(kind, None, (bound, 1))
        case ">":
            return Span(kind, (bound, 1), None)
        case ">=":
            return Span(kind, (bound, 0), None)
        case "=":
            return Span(kind, (bound, 0), (bound, 1))
        case _:
            raise _NotConstantError


def _range(node: RangeLiteral) -> Span:
    (kind, low), (other_kind, high) = _ordered(node.start), _ordered(node.end)
    if kind is not other_kind:
        raise _NotConstantError
    return Span(kind, (low, 0 if node.start_included else 1), (high, 1 if node.end_included else 0))


def _ordered(node: "Node | None") -> tuple[type, Value]:
    kind, value = _constant(node)
    if kind in EQUATED_ONLY:
        raise _NotConstantError
    return kind, value


def _constant(node: "Node | None") -> tuple[type, Value]:
    if isinstance(node, Negation):
        kind, value = _constant(node.operand)
        if isinstance(value, Decimal) or type(value) is int:
            return kind, decimals.subtract(0, value)
    if isinstance(node, Call):
        return Date, _date(node)
    if isinstance(node, Literal) and type(node.value) in KINDS:
        return KINDS[type(node.value)], node.value
    raise _NotConstantError


def _date(node: Call) -> Date:
    """Return the date of `date("2024-02-29")`, a common form in tables."""
    match node.arguments.values:
        case (Literal(str(text)),) if node.name == "date" and node.arguments.names is None:
            try:
                return parser.date(text)
            except ValueError:
                pass
    raise _NotConstantError
