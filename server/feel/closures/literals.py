"""Literals, lists, contexts and names."""

from server.feel.builtins import BUILTINS
from server.feel.closures.ranges import range_by_sign
from server.feel.failures import FailureType
from server.feel.names import Closure, Compile, Names
from server.feel.nodes import (
    ContextLiteral,
    InputComparison,
    InputValue,
    ListLiteral,
    Literal,
    Name,
)
from server.feel.run import Run
from server.feel.values import MISSING, Value


def literal(node: Literal, _names: Names, _compile: Compile) -> Closure:
    return constant(node.value)


def constant(value: Value) -> Closure:
    return lambda _: value


def name(node: Name, names: Names, _compile: Compile) -> Closure:
    builtin = BUILTINS.get(node.name) if names.layout.dialect.has_builtins_as_values else None
    if builtin is None:
        return names.closure(node.name, node.position)
    lookup = names.lookup(node.name)

    def named(run: Run) -> Value:
        value = lookup(run)
        return builtin if value is MISSING else value

    return named


def input_value(_node: InputValue, names: Names, _compile: Compile) -> Closure:
    return names.input()


def list_literal(node: ListLiteral, names: Names, compile_node: Compile) -> Closure:
    """Compile a list; `< 5` among the items is a range instead of an input test."""
    items = tuple(
        range_by_sign(item, names, compile_node)
        if isinstance(item, InputComparison)
        else compile_node(item, names)
        for item in node.items
    )
    return lambda run: [item(run) for item in items]


def context_literal(node: ContextLiteral, names: Names, compile_node: Compile) -> Closure:
    """Compile a context, in which each entry sees the entries before it."""
    if (
        len({key for key, _ in node.entries}) < len(node.entries)
        and not names.layout.dialect.overwrites_entries
    ):
        return _ambiguous
    inner = names.inner()
    entries = [(key, compile_node(value, inner), inner.bind(key).slot) for key, value in node.entries]

    def context(run: Run) -> Value:
        result: dict[str, Value] = {}
        for key, value, slot in entries:
            result[key] = run.slots[slot] = value(run)
        return result

    return context


def _ambiguous(run: Run) -> None:
    run.fail(FailureType.INVALID_TYPE, "Several entries of a context have the same key")
