"""Unary tests: after `in`, and as input entries of decision tables.

A test that uses `?` must itself be true or false. Any other value is compared with the input: it must equal
the input or contain it (DMN 1.5 §10.3.2.7).
"""

from collections.abc import Sequence
from typing import TypeGuard

from server.feel.closures.operators import compared_with
from server.feel.closures.ranges import range_by_sign
from server.feel.comparison import RELATIONS, Relation, equal, is_same, not_equal
from server.feel.constants import constant_of
from server.feel.kleene import kleene_and
from server.feel.names import INPUT, Binding, Closure, Compile, Names
from server.feel.nodes import In, InputComparison, Literal, Node, RangeLiteral, Tests
from server.feel.run import Run, measure
from server.feel.values import Range, Value


def membership(node: In, names: Names, compile_node: Compile) -> Closure:
    operand = compile_node(node.operand, names)
    inner = names.inner()
    binding = inner.bind(INPUT)
    test = _any_of(node.tests, inner, binding, compile_node)

    def is_member(run: Run) -> Value:
        run.slots[binding.slot] = operand(run)
        return test(run)

    return is_member


def tests(node: Tests, names: Names, binding: Binding, compile_node: Compile) -> Closure:
    """Compile all tests of a text; `binding` is the slot of the input."""
    if not node.tests:
        return lambda _: True
    if not node.is_negated:
        return _any_of(node.tests, names, binding, compile_node)
    if not names.layout.dialect.negates_constants:
        return _negated(_any_of(node.tests, names, binding, compile_node))
    constants = [each.value for each in node.tests if _is_truth(each)]
    if True in constants:
        return lambda _: False
    others = [each for each in node.tests if not _is_truth(each)]
    rest = _negated(_any_of(others, names, binding, compile_node)) if others else _always
    value = names.input()
    return (lambda run: False if value(run) is False else rest(run)) if constants else rest


def _always(_: Run) -> Value:
    return True


def input_comparison(node: InputComparison, names: Names, compile_node: Compile) -> Closure:
    """Compile `< 5`: a comparison with the input, or a range if there is no input (DMN 1.5 §10.3.2.7)."""
    if not names.has_input():
        return range_by_sign(node, names, compile_node)
    value = names.input()
    bound = constant_of(node.operand)
    if type(bound) is int or type(bound) is str:
        return compared_with(value, node.operator, bound, node.position)
    operand, relation, position = compile_node(node.operand, names), RELATIONS[node.operator], node.position
    return lambda run: relation(run, value(run), operand(run), position)


def _any_of(nodes: Sequence[Node], names: Names, binding: Binding, compile_node: Compile) -> Closure:
    alternatives = tuple(_test(node, names, binding, compile_node) for node in nodes)
    if len(alternatives) == 1:
        return alternatives[0]

    def any_of(run: Run) -> Value:
        result: bool | None = False
        for alternative in alternatives:
            value = alternative(run)
            if value is True:
                return True
            if value is None:
                result = None
        return result

    return any_of


def _negated(test: Closure) -> Closure:
    def negated(run: Run) -> Value:
        value = test(run)
        return None if value is None else not value

    return negated


def _is_truth(node: Node) -> TypeGuard[Literal]:
    return isinstance(node, Literal) and isinstance(node.value, bool)


def _test(node: Node, names: Names, binding: Binding, compile_node: Compile) -> Closure:
    if isinstance(node, RangeLiteral):
        return _range_test(node, names, compile_node)
    if _is_truth(node):
        return _equality_test(names.input(), node.value)
    constant = constant_of(node)
    if type(constant) is int or type(constant) is str:
        return compared_with(names.input(), "=", constant)
    binding.is_used = False
    expression = compile_node(node, names)
    if binding.is_used:
        return _boolean_test(expression)
    return _expression_test(names.input(), expression)


def _range_test(node: RangeLiteral, names: Names, compile_node: Compile) -> Closure:
    low_end, high_end = constant_of(node.start), constant_of(node.end)
    if type(low_end) is type(high_end) is int:
        return _whole_range_test(node, names.input(), low_end, high_end)
    value, start, end = names.input(), compile_node(node.start, names), compile_node(node.end, names)
    low, high = _relations(start_included=node.start_included, end_included=node.end_included)
    both = _both if names.layout.dialect.compares_both_ends else kleene_and

    def is_within(run: Run) -> Value:
        tested = value(run)
        return both(low(run, tested, start(run), node.position), high(run, tested, end(run), node.position))

    return is_within


def _both(low: Value, high: Value) -> Value:
    """Return null unless both ends could be compared."""
    return None if low is None or high is None else low and high


def _whole_range_test(node: RangeLiteral, value: Closure, start: int, end: int) -> Closure:
    """Compile a range of integer constants, the most common range in decision tables."""
    first = start if node.start_included else start + 1
    last = end if node.end_included else end - 1
    low, high = _relations(start_included=node.start_included, end_included=node.end_included)

    def is_within(run: Run) -> Value:
        tested = value(run)
        if type(tested) is int:
            return first <= tested <= last
        return kleene_and(low(run, tested, start, node.position), high(run, tested, end, node.position))

    return is_within


def _relations(*, start_included: bool, end_included: bool) -> tuple[Relation, Relation]:
    return RELATIONS[">=" if start_included else ">"], RELATIONS["<=" if end_included else "<"]


def _equality_test(value: Closure, expected: Value) -> Closure:
    return lambda run: equal(run, value(run), expected)


def _boolean_test(expression: Closure) -> Closure:
    def is_fulfilled(run: Run) -> Value:
        value = expression(run)
        return value if isinstance(value, bool) else None

    return is_fulfilled


def _expression_test(value: Closure, expression: Closure) -> Closure:
    def is_accepted(run: Run) -> Value:
        return _accepts(run, expression(run), value(run))

    return is_accepted


def _accepts(run: Run, expected: Value, value: Value) -> bool | None:
    if isinstance(expected, bool):
        if isinstance(value, bool) and run.dialect.compares_booleans:
            return expected is value
        return expected or value is False
    if isinstance(expected, Range):
        return contains(run, expected, value)
    if isinstance(expected, list):
        measure(run, expected, value)
        return is_same(run, expected, value) or any(
            is_same(run, item, value) or (isinstance(item, Range) and contains(run, item, value) is True)
            for item in expected
        )
    return equal(run, value, expected)


def contains(run: Run, interval: Range, value: Value) -> bool | None:
    """Compare a value with the ends that the range has."""
    if not interval.is_interval:
        return not_equal(run, value, interval.start)
    low, high = _relations(start_included=interval.start_included, end_included=interval.end_included)
    return kleene_and(
        interval.start is None or low(run, value, interval.start, None),
        interval.end is None or high(run, value, interval.end, None),
    )
