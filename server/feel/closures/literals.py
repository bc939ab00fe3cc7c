"""Literals, lists, contexts, ranges and names."""

from decimal import Decimal

from server.feel import comparison, decimals
from server.feel.errors import EvaluationError
from server.feel.names import Closure, Compile, Names
from server.feel.nodes import (
    ContextLiteral,
    InputValue,
    ListLiteral,
    Literal,
    Name,
    Negation,
    Node,
    RangeLiteral,
)
from server.feel.run import Run
from server.feel.text import shown
from server.feel.values import MISSING, Missing, Range, Value


def constant_of(node: Node) -> Value | Missing:
    """Fold a literal, or a negated number, into its value; MISSING for all else."""
    if isinstance(node, Literal):
        return node.value
    if isinstance(node, Negation):
        number = constant_of(node.operand)
        if type(number) is int or isinstance(number, Decimal):
            return decimals.subtract(0, number) if isinstance(number, Decimal) else -number
    return MISSING


def literal(node: Literal, _names: Names, _compile: Compile) -> Closure:
    return constant(node.value)


def constant(value: Value) -> Closure:
    return lambda _: value


def name(node: Name, names: Names, _compile: Compile) -> Closure:
    return names.closure(node.name, node.position)


def input_value(_node: InputValue, names: Names, _compile: Compile) -> Closure:
    return names.input()


def list_literal(node: ListLiteral, names: Names, compile_node: Compile) -> Closure:
    items = tuple(compile_node(item, names) for item in node.items)
    return lambda run: [item(run) for item in items]


def context_literal(node: ContextLiteral, names: Names, compile_node: Compile) -> Closure:
    """Let each entry see the entries before it."""
    inner = names.inner()
    entries = [(key, compile_node(value, inner), inner.bind(key).slot) for key, value in node.entries]

    def context(run: Run) -> Value:
        result: dict[str, Value] = {}
        for key, value, slot in entries:
            result[key] = run.slots[slot] = value(run)
        return result

    return context


def range_literal(node: RangeLiteral, names: Names, compile_node: Compile) -> Closure:
    start, end = compile_node(node.start, names), compile_node(node.end, names)

    def range_value(run: Run) -> Value:
        low, high = start(run), end(run)
        if (type(low), type(high)) not in comparison.ORDERED:
            raise EvaluationError(f"no range from '{shown(low)}' to '{shown(high)}'")
        return Range(low, high, start_included=node.start_included, end_included=node.end_included)

    return range_value
