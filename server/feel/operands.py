"""Parsers of operands, one function per kind of beginning."""

from collections.abc import Callable

from server.feel.decimals import parse_number
from server.feel.lexer import TokenKind, unquote
from server.feel.nodes import (
    Arguments,
    Call,
    ContextLiteral,
    External,
    For,
    If,
    InputComparison,
    InputValue,
    IteratedRange,
    Iterator,
    Lambda,
    ListLiteral,
    Literal,
    Name,
    Negation,
    Node,
    Quantified,
    RangeLiteral,
)
from server.feel.pratt import Parser, Power
from server.feel.temporal.parser import literal, with_capital_z
from server.feel.type_names import type_of
from server.feel.types import Type
from server.feel.values import Value


def name(parser: Parser) -> Node:
    position = parser.token.start
    declared = parser.declared_name()
    if declared is not None:
        return Call(declared, arguments(parser), position) if parser.at("(") else Name(declared, position)
    length = parser.function_name_length()
    if length:
        return Call(parser.words(length), arguments(parser), position)
    return Name(parser.name(), position)


def number(parser: Parser) -> Node:
    token = parser.advance()
    exponent = token.text.lower().find("e")
    if exponent > 0 and not parser.dialect.reads_exponents:
        raise parser.refused("expected a number without an exponent", token.start + exponent)
    try:
        return Literal(parse_number(token.text))
    except ArithmeticError as error:
        raise parser.refused("expected a number within bounds", token.start) from error


def string(parser: Parser) -> Node:
    return Literal(unquote(parser.advance().text))


def temporal(parser: Parser) -> Node:
    """Parse `@"…"`; an invalid date, time or duration is null."""
    parser.advance()
    if parser.token.kind is not TokenKind.STRING:
        raise parser.unexpected("a string")
    text = unquote(parser.advance().text)
    try:
        return Literal(literal(with_capital_z(text) if parser.dialect.reads_small_z else text))
    except ValueError:
        return Literal(None)


def constant(value: Value) -> Callable[[Parser], Node]:
    def parse(parser: Parser) -> Node:
        parser.advance()
        return Literal(value)

    return parse


def input_value(parser: Parser) -> Node:
    return InputValue(parser.advance().start)


def negation(parser: Parser) -> Node:
    position = parser.advance().start
    return Negation(parser.expression(Power.SIGN), position)


def input_comparison(parser: Parser) -> Node:
    operator = parser.advance()
    return InputComparison(operator.text, parser.expression(Power.COMPARISON), operator.start)


def group(parser: Parser) -> Node:
    parser.advance()
    node = parser.expression()
    if parser.at(".."):
        return range_from(parser, node, start_included=False)
    parser.expect(")")
    return node


def bracket(parser: Parser) -> Node:
    parser.advance()
    if not parser.begins_reversed_range() and parser.accept("]"):
        return ListLiteral(())
    first = parser.expression()
    if parser.at(".."):
        return range_from(parser, first, start_included=True)
    rest = parser.separated(lambda: _further_item(parser)) if parser.accept(",") else ()
    parser.expect("]")
    return ListLiteral((first, *rest))


def _further_item(parser: Parser) -> Node:
    if parser.at("]") and not parser.begins_reversed_range():
        raise parser.unexpected("an item")
    return parser.expression()


def reversed_bracket(parser: Parser) -> Node:
    parser.advance()
    return range_from(parser, parser.expression(Power.COMPARISON), start_included=False)


def range_from(parser: Parser, start: Node, *, start_included: bool) -> Node:
    position = parser.expect("..").start
    end = parser.range_end()
    closing = parser.expect("]", ")", "[")
    return RangeLiteral(
        start, end, start_included=start_included, end_included=closing.text == "]", position=position
    )


def context(parser: Parser) -> Node:
    parser.advance()
    if parser.accept("}"):
        return ContextLiteral(())
    entries = [(_key(parser), parser.expression())]
    while parser.accept(","):
        entries.append((_key(parser), parser.expression()))
    parser.expect("}")
    return ContextLiteral(tuple(entries))


def _key(parser: Parser) -> str:
    """Parse the key of a context entry and its colon; an unquoted key may contain nearly any symbol."""
    token = parser.token
    if token.kind in _QUOTED_KEYS:
        parser.advance()
        parser.expect(":")
        return parser.declare(unquote(token.text) if token.kind is TokenKind.STRING else token.text)
    last, equals = token, None
    while not parser.at(":"):
        if parser.token.kind in _NO_PART_OF_A_KEY or parser.at(*"{}[](),"):
            if equals is not None:
                raise parser.refused("expected ':' but found '='", equals.start)
            raise parser.unexpected("a key and ':'")
        last = parser.advance()
        if last.text == "=" and equals is None:
            equals = last
    if parser.token is token:
        raise parser.unexpected("a key")
    parser.advance()
    return parser.declare(parser.text[token.start : last.end])


_QUOTED_KEYS = frozenset({TokenKind.STRING, TokenKind.QUOTED_NAME})
_NO_PART_OF_A_KEY = _QUOTED_KEYS | {TokenKind.END}


def if_(parser: Parser) -> Node:
    branches = [_branch(parser)]
    while parser.at("if"):
        branches.append(_branch(parser))
    return If(tuple(branches), parser.expression())


def _branch(parser: Parser) -> tuple[Node, Node]:
    parser.expect("if")
    condition = parser.expression()
    parser.expect("then")
    value = parser.expression()
    parser.expect("else")
    return condition, value


def for_(parser: Parser) -> Node:
    iterators = _iterators(parser)
    parser.expect("return")
    return For(iterators, parser.expression())


def quantified(parser: Parser) -> Node:
    is_every = parser.at("every")
    iterators = _iterators(parser)
    parser.expect("satisfies")
    return Quantified(iterators, parser.expression(), is_every=is_every)


def _iterators(parser: Parser) -> tuple[Iterator, ...]:
    parser.advance()
    iterators = [_iterator(parser)]
    while parser.accept(","):
        iterators.append(_iterator(parser))
    return tuple(iterators)


def _iterator(parser: Parser) -> Iterator:
    position = parser.token.start
    name = parser.variable()
    parser.expect("in")
    source = parser.expression(Power.COMPARISON)
    if parser.accept(".."):
        return Iterator(name, IteratedRange(source, parser.expression(Power.COMPARISON)), position)
    return Iterator(name, source, position)


def lambda_(parser: Parser) -> Node:
    parser.advance()
    parser.expect("(")
    parameters = () if parser.at(")") else parser.separated(lambda: _parameter(parser))
    parser.expect(")")
    names = tuple(name for name, _ in parameters)
    return Lambda(names, tuple(kind for _, kind in parameters), _body(parser))


def _parameter(parser: Parser) -> tuple[str, Type | None]:
    name = parser.parameter()
    return name, type_of(parser) if parser.accept(":") else None


def _body(parser: Parser) -> Node:
    if parser.at("external") and parser.is_symbol(1, "{"):
        position = parser.advance().start
        return External(context(parser), position)
    return parser.expression()


def arguments(parser: Parser) -> Arguments:
    parser.expect("(")
    if parser.accept(")"):
        return Arguments(())
    names, values = [parser.argument_name()], [parser.expression()]
    while parser.accept(","):
        names.append(parser.argument_name())
        values.append(parser.expression())
    parser.expect(")")
    given = tuple(each for each in names if each is not None)
    if given and len(given) != len(values):
        raise parser.unexpected("all arguments or none of them named")
    return Arguments(tuple(values), given or None)
