"""Parsers for operators after an operand, one function per operator."""

from server.feel.nodes import (
    Arithmetic,
    Between,
    Comparison,
    Conjunction,
    Disjunction,
    Filter,
    In,
    InstanceOf,
    Invocation,
    Node,
    Path,
    QualifiedCall,
)
from server.feel.operands import arguments, range_from
from server.feel.pratt import Infix, Parser, Power
from server.feel.type_names import type_of


def disjunction(parser: Parser, left: Node) -> Node:
    operands = [left]
    while parser.accept("or"):
        operands.append(parser.expression(Power.OR))
    return Disjunction(tuple(operands))


def conjunction(parser: Parser, left: Node) -> Node:
    operands = [left]
    while parser.accept("and"):
        operands.append(parser.expression(Power.AND))
    return Conjunction(tuple(operands))


def comparison(parser: Parser, left: Node) -> Node:
    operator = parser.advance()
    return Comparison(operator.text, left, parser.expression(Power.COMPARISON), operator.start)


def arithmetic(power: Power) -> Infix:
    def parse(parser: Parser, left: Node) -> Node:
        operator = parser.advance()
        return Arithmetic(operator.text, left, parser.expression(power), operator.start)

    return Infix(power, parse)


def between(parser: Parser, operand: Node) -> Node:
    position = parser.advance().start
    low = parser.expression(Power.COMPARISON)
    parser.expect("and")
    return Between(operand, low, parser.expression(Power.COMPARISON), position)


def instance_of(parser: Parser, operand: Node) -> Node:
    parser.advance()
    parser.expect("of")
    return InstanceOf(operand, type_of(parser))


def in_(parser: Parser, operand: Node) -> Node:
    parser.advance()
    if not parser.at("("):
        return In(operand, (parser.expression(Power.AND),))
    parser.advance()
    first, *further = parser.separated(parser.expression)
    if parser.at("..") and not further:
        first = range_from(parser, first, start_included=False)
    else:
        parser.expect(")")
    if further:
        return In(operand, (first, *further))
    # `x in (list)[1]`: the parentheses may belong to the test's first operand.
    return In(operand, (parser.continued(first, Power.COMPARISON),))


def path(parser: Parser, source: Node) -> Node:
    position = parser.advance().start
    key = parser.key()
    if parser.at("("):
        return QualifiedCall(source, key, arguments(parser), position)
    return Path(source, key, position)


def filter_(parser: Parser, source: Node) -> Node:
    position = parser.advance().start
    condition = parser.expression()
    parser.expect("]")
    return Filter(source, condition, position)


def invocation(parser: Parser, function: Node) -> Node:
    position = parser.token.start
    return Invocation(function, arguments(parser), position)
