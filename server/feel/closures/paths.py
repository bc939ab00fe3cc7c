"""Paths and filters."""

from server.feel import limits
from server.feel.constants import constant_of
from server.feel.decimals import Number, truncated
from server.feel.errors import LimitExceededError
from server.feel.failures import FailureType
from server.feel.names import NO_ITEM, Closure, Compile, Names
from server.feel.nodes import (
    Between,
    Call,
    Comparison,
    Conjunction,
    Disjunction,
    Filter,
    In,
    InstanceOf,
    Invocation,
    Name,
    Path,
    QualifiedCall,
    Quantified,
)
from server.feel.properties import property_of
from server.feel.run import Run
from server.feel.values import MISSING, Value, is_number

ALWAYS_PER_ITEM = (
    Comparison,
    Between,
    In,
    InstanceOf,
    Conjunction,
    Disjunction,
    Quantified,
    Call,
    QualifiedCall,
    Invocation,
)


def path(node: Path, names: Names, compile_node: Compile) -> Closure:
    if isinstance(node.source, Name) and names.is_variable(node.source.name):
        return _path_of_variable(node, names, node.source)
    source, key, position = compile_node(node.source, names), node.key, node.position

    def step(run: Run) -> Value:
        value = source(run)
        if type(value) is dict:
            found = value.get(key, MISSING)
            if found is not MISSING:
                return found
        return _step(run, value, key, position)

    return step


def _path_of_variable(node: Path, names: Names, source_name: Name) -> Closure:
    """Compile `order.total`, the most common expression, without an intermediate call."""
    variable, key, position = source_name.name, node.key, node.position
    source = names.closure(variable, source_name.position)

    def step(run: Run) -> Value:
        value = run.scope.get(variable, MISSING)
        if type(value) is dict:
            found = value.get(key, MISSING)
            if found is not MISSING:
                return found
        return _step(run, source(run), key, position)

    return step


def _step(run: Run, value: Value, key: str, position: int, depth: int = 0) -> Value:
    if not isinstance(value, list):
        return property_of(run, value, key, position)
    if depth > limits.MAX_VALUE_DEPTH:
        raise LimitExceededError(f"a value nested deeper than {limits.MAX_VALUE_DEPTH} levels")
    run.charge(len(value))
    return [
        item[key] if type(item) is dict and key in item else _step(run, item, key, position, depth + 1)
        for item in value
    ]


def filtered(node: Filter, names: Names, compile_node: Compile) -> Closure:
    source, position = compile_node(node.source, names), node.position
    index = constant_of(node.condition)
    if type(index) is int and index != 0:
        return _at_constant(source, index, position)
    if is_number(index):
        return lambda run: _at(_list_of(run, source(run), position), index)
    inner = names.inner()
    slot = inner.bind_item().slot
    condition, size, _ = inner.layout.measured(lambda: compile_node(node.condition, inner))
    may_be_index = not isinstance(node.condition, ALWAYS_PER_ITEM)

    def selected(run: Run) -> Value:
        items = _list_of(run, source(run), position)
        if items is None:
            return None
        run.charge((len(items) + 1) * size)
        index = _outside(run, condition, slot) if may_be_index else None
        return _select(run, items, condition, slot) if index is None else _at(items, index)

    return selected


def _at_constant(source: Closure, index: int, position: int) -> Closure:
    """Compile `items[1]`, the most common filter."""
    offset = index - 1 if index > 0 else index

    def item(run: Run) -> Value:
        items = source(run)
        if type(items) is list and -len(items) <= offset < len(items):
            return items[offset]
        return _at(_list_of(run, items, position), index)

    return item


def _list_of(run: Run, value: Value, position: int) -> list[Value] | None:
    if isinstance(value, list):
        return value
    if run.dialect.converts_singletons and value is not None:
        return [value]
    run.fail(FailureType.INVALID_TYPE, "Expected list but found '{}'", value, position=position)
    return None


def _outside(run: Run, condition: Closure, slot: int) -> Number | None:
    """Try the condition as an index, independent of any item; failures of this attempt are discarded."""
    known = len(run.failures or ())
    run.slots[slot] = NO_ITEM
    index = condition(run)
    if is_number(index):
        return index
    if run.failures is not None:
        del run.failures[known:]
    return None


def _select(run: Run, items: list[Value], condition: Closure, slot: int) -> Value:
    slots, result = run.slots, []
    for item in items:
        slots[slot] = item
        is_met = condition(run)
        if is_met is True:
            result.append(item)
        elif is_met is not False and item is items[0] and is_number(is_met):
            return _at(items, is_met)
    return result


def _at(items: list[Value] | None, index: Number) -> Value:
    """Return the item at an index that counts from 1, or from the end if it is negative."""
    if items is None:
        return None
    position = truncated(index, len(items) + 1)
    if position == 0 or abs(position) > len(items):
        return None
    return items[position - 1 if position > 0 else position]
