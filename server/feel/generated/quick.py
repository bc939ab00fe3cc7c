"""Generates the code of a text that is evaluated often."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache, partial
from types import CodeType
from typing import Final, TypeAlias, cast

from server.feel import decimals, nodes
from server.feel.dialects import Dialect
from server.feel.errors import FeelError
from server.feel.failures import Evaluation
from server.feel.generated import calls, lists, scalars
from server.feel.generated.block import SCALARS, STEPS, Block, Kind, Source, UnsupportedError
from server.feel.nodes import Node
from server.feel.run import Run, Scope, cost, measure
from server.feel.values import MISSING, Context, Value

Quick: TypeAlias = Callable[[Scope], Evaluation | None]
"""Evaluates without failures, or returns None, so that the closures evaluate."""

_CACHED_SHAPES: Final = 1024

_FORMS: Mapping[type, Callable[..., str]] = {
    nodes.Literal: scalars.literal,
    nodes.Name: scalars.name,
    nodes.Negation: scalars.negation,
    nodes.Arithmetic: scalars.arithmetic,
    nodes.Comparison: scalars.comparison,
    nodes.Between: scalars.between,
    nodes.In: scalars.membership,
    nodes.Conjunction: scalars.conjunction,
    nodes.Disjunction: scalars.disjunction,
    nodes.If: scalars.condition,
    nodes.ListLiteral: lists.list_literal,
    nodes.ContextLiteral: lists.context_literal,
    nodes.Path: lists.path,
    nodes.Filter: lists.filtered,
    nodes.For: lists.for_loop,
    nodes.Quantified: lists.quantified,
    nodes.Call: calls.call,
}


def _weigh(value: list[Value] | Context, steps: int) -> None:
    """Refuse a result that is too large or too deep; most results have no nested values."""
    items = value.values() if type(value) is dict else value
    if not _NESTED.isdisjoint(map(type, items)) or steps + len(value) > STEPS:
        run = Run({}, 0)
        run.charge(steps)
        measure(run, value)


_NESTED: Final = frozenset({list, dict})
_SURPRISES: Final = (ArithmeticError, LookupError, TypeError, ValueError, FeelError)
"""Exceptions that the code raises for values of unexpected types."""

RUNTIME: Final[Mapping[str, object]] = {
    "EQUATABLE": frozenset({bool, int, str, Decimal}),
    "Evaluation": Evaluation,
    "FALSE": Evaluation(False),
    "MISSING": MISSING,
    "NESTED": _NESTED,
    "ORDERED": frozenset({int, str, Decimal}),
    "SURPRISES": _SURPRISES,
    "TRUE": Evaluation(True),
    "add": decimals.add,
    "cost": cost,
    "divide": decimals.divide,
    "multiply": decimals.multiply,
    "new": tuple.__new__,
    "settled": decimals.settled,
    "subtract": decimals.subtract,
    "weigh": _weigh,
}


def generate(node: Node, dialect: Dialect) -> Quick | None:
    """Generate the code of an expression; None if it has a form without code generation."""
    source = Source({**RUNTIME, "new_run": partial(Run, {}, 0, dialect)})
    block = Block(source, 2)
    try:
        if isinstance(node, nodes.Literal):
            block.line(f"return {source.constant(Evaluation(node.value))}")
        else:
            _answer(_emit(node, block), block)
    except (UnsupportedError, ArithmeticError, RecursionError):
        return None
    head = ["def quick(scope):", "    get, steps = scope.get, 0", "    try:"]
    tail = ["    except SURPRISES: return None"]
    # The lines consist of this package's words and numbers; names and strings are constants.
    exec(_compiled("\n".join([*head, *source.lines, *tail])), source.namespace)  # noqa: S102
    return cast("Quick", source.namespace["quick"])


@lru_cache(_CACHED_SHAPES)
def _compiled(lines: str) -> CodeType:
    """Compile lines; texts that differ only in names and values have the same lines."""
    return compile(lines, "<feel>", "exec")


def _emit(node: Node, block: Block) -> str:
    form = _FORMS.get(type(node))
    if form is None:
        raise UnsupportedError(node)
    block.source.count(node)
    return form(node, block, _emit)


def _answer(result: str, block: Block) -> None:
    kind = block.kind(result)
    if kind is Kind.BOOLEAN:
        block.line(f"return TRUE if {result} else FALSE")
        return
    if kind in {Kind.FLAT_LIST, Kind.FLAT_CONTEXT}:
        block.give_up_if(f"steps + len({result}) > {STEPS}")
    elif kind in {Kind.LIST, Kind.CONTEXT}:
        block.line(f"weigh({result}, steps)")
    elif kind not in SCALARS:
        block.line(f"if type({result}) in NESTED: weigh({result}, steps)")
    block.line(f"return new(Evaluation, ({result}, ()))")
