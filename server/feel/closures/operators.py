"""Arithmetic, comparison, `between` and `instance of`."""

import operator
from collections.abc import Callable, Mapping

from server.feel.arithmetic import OPERATORS, Operator, negate
from server.feel.closures.literals import constant
from server.feel.comparison import RELATIONS
from server.feel.constants import constant_of
from server.feel.decimals import INT_BOUND
from server.feel.kleene import kleene_and
from server.feel.names import Closure, Compile, Names
from server.feel.nodes import Arithmetic, Between, Comparison, InstanceOf, Negation, Node
from server.feel.run import Run, measure
from server.feel.types import ANY, is_instance
from server.feel.values import MISSING, Value

_PLAIN: Mapping[str, Callable[..., bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def negation(node: Negation, names: Names, compile_node: Compile) -> Closure:
    value = constant_of(node)
    if value is not MISSING:
        return constant(value)
    operand, position = compile_node(node.operand, names), node.position
    return lambda run: negate(run, operand(run), position)


def arithmetic(node: Arithmetic, names: Names, compile_node: Compile) -> Closure:
    """Compile `a + b - c …` to one closure, because nesting would be as deep as the chain is long."""
    links: list[Arithmetic] = []
    first: Node = node
    while isinstance(first, Arithmetic):
        links.append(first)
        first = first.left
    operators = OPERATORS[names.layout.dialect.name]
    operands = [
        compile_node(operand, names) for operand in (first, *(link.right for link in reversed(links)))
    ]
    if len(links) == 1:
        return _pair(operators[node.operator], operands[0], operands[1], node.position)
    steps = [
        (operators[link.operator], operand, link.position)
        for link, operand in zip(reversed(links), operands[1:], strict=True)
    ]
    return _chain(operands[0], steps)


def _pair(sign: Operator, left: Closure, right: Closure, position: int) -> Closure:
    on_ints, apply = sign.on_ints, sign.apply

    def pair(run: Run) -> Value:
        one, other = left(run), right(run)
        if on_ints is not None and type(one) is int and type(other) is int:
            result = on_ints(one, other)
            if -INT_BOUND < result < INT_BOUND:
                return result
        return apply(run, one, other, position)

    return pair


def _chain(first: Closure, steps: list[tuple[Operator, Closure, int]]) -> Closure:
    links = [(sign.on_ints, sign.apply, operand, position) for sign, operand, position in steps]

    def chain(run: Run) -> Value:
        value = first(run)
        for on_ints, apply, operand, position in links:
            other = operand(run)
            if on_ints is not None and type(value) is int and type(other) is int:
                result = on_ints(value, other)
                if -INT_BOUND < result < INT_BOUND:
                    value = result
                    continue
            value = apply(run, value, other, position)
        return value

    return chain


def comparison(node: Comparison, names: Names, compile_node: Compile) -> Closure:
    left = compile_node(node.left, names)
    bound = constant_of(node.right)
    if type(bound) is int or type(bound) is str:
        return compared_with(left, node.operator, bound, node.position)
    return _compared(left, node.operator, compile_node(node.right, names), node.position)


def _compared(left: Closure, sign: str, right: Closure, position: int) -> Closure:
    plain, relation = _PLAIN[sign], RELATIONS[sign]

    def compared(run: Run) -> Value:
        one, other = left(run), right(run)
        kind = type(one)
        if kind is type(other) and (kind is int or kind is str):
            return plain(one, other)
        return relation(run, one, other, position)

    return compared


def compared_with(left: Closure, sign: str, bound: int | str, position: int | None = None) -> Closure:
    """Compile the most common comparison, with an integer or string constant."""
    plain, relation, kind = _PLAIN[sign], RELATIONS[sign], type(bound)

    def compared(run: Run) -> Value:
        value = left(run)
        if type(value) is kind:
            return plain(value, bound)
        return relation(run, value, bound, position)

    return compared


def between(node: Between, names: Names, compile_node: Compile) -> Closure:
    operand, low, high = (compile_node(part, names) for part in (node.operand, node.low, node.high))
    at_least, at_most, position = RELATIONS[">="], RELATIONS["<="], node.position

    def is_between(run: Run) -> Value:
        value, first, last = operand(run), low(run), high(run)
        if type(value) is type(first) is type(last) is int:
            return first <= value <= last
        return kleene_and(at_least(run, value, first, position), at_most(run, value, last, position))

    return is_between


def instance_of(node: InstanceOf, names: Names, compile_node: Compile) -> Closure:
    operand, expected = compile_node(node.operand, names), node.type
    if expected == ANY:
        return lambda run: operand(run) is not None

    def is_of_type(run: Run) -> Value:
        value = operand(run)
        measure(run, value)
        return is_instance(value, expected, run.ports.types)

    return is_of_type
