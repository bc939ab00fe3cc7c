"""Parses a text into its syntax tree.

The tree depends on the text and on the declared names, which may contain spaces and symbols. The tables at
the end map words to forms and binding power.
"""

from server.feel import operands, operations
from server.feel.dialects import CAMUNDA, Dialect
from server.feel.errors import FeelSyntaxError
from server.feel.lexer import TokenKind
from server.feel.nodes import Node, Tests
from server.feel.pratt import Grammar, Infix, Parser, Power
from server.feel.type_names import type_of
from server.feel.types import Type


def parse_expression(text: str, names: frozenset[str] = frozenset(), dialect: Dialect = CAMUNDA) -> Node:
    parser = Parser(text, _GRAMMAR, names, dialect)
    node = parser.expression()
    parser.expect_end()
    return node


def parse_unary_tests(text: str, names: frozenset[str] = frozenset(), dialect: Dialect = CAMUNDA) -> Tests:
    """Parse unary tests (DMN 1.5 §10.3.1.2 rules 14 and 15); an empty text is the same as `-`."""
    parser = Parser(text, _GRAMMAR, names, dialect)
    if _is_any_input(parser):
        return Tests(())
    negated = _negated_tests(parser)
    if negated is not None:
        return negated
    # `not(a) and b` is an expression, so it is parsed from the beginning.
    parser = Parser(text, _GRAMMAR, names, dialect)
    tests = parser.separated(parser.expression)
    parser.expect_end()
    return Tests(tests)


def parse_type(text: str, names: frozenset[str] = frozenset()) -> Type:
    parser = Parser(text, _GRAMMAR, names, CAMUNDA)
    parsed = type_of(parser)
    parser.expect_end()
    return parsed


def _is_any_input(parser: Parser) -> bool:
    at_end = parser.token.kind is TokenKind.END
    return at_end or (parser.at("-") and parser.ahead().kind is TokenKind.END)


def _negated_tests(parser: Parser) -> Tests | None:
    """Return the tests if the whole text is one `not(…)`, which negates tests instead of calling a function."""
    if not (parser.at("not") and parser.is_symbol(1, "(")):
        return None
    parser.advance(2)
    try:
        tests = parser.separated(parser.expression)
        parser.expect(")")
    except FeelSyntaxError:
        return None
    return Tests(tests, is_negated=True) if parser.token.kind is TokenKind.END else None


_COMPARISON = Infix(Power.COMPARISON, operations.comparison)
_SUM = operations.arithmetic(Power.SUM)
_PRODUCT = operations.arithmetic(Power.PRODUCT)

_GRAMMAR = Grammar(
    prefixes={
        "null": operands.constant(None),
        "true": operands.constant(True),
        "false": operands.constant(False),
        "?": operands.input_value,
        "@": operands.temporal,
        "-": operands.negation,
        "<": operands.input_comparison,
        "<=": operands.input_comparison,
        ">": operands.input_comparison,
        ">=": operands.input_comparison,
        "=": operands.input_comparison,
        "!=": operands.input_comparison,
        "(": operands.group,
        "[": operands.bracket,
        "]": operands.reversed_bracket,
        "{": operands.context,
        "if": operands.if_,
        "for": operands.for_,
        "some": operands.quantified,
        "every": operands.quantified,
        "function": operands.lambda_,
    },
    literals={
        TokenKind.NAME: operands.name,
        TokenKind.QUOTED_NAME: operands.name,
        TokenKind.NUMBER: operands.number,
        TokenKind.STRING: operands.string,
    },
    infixes={
        "or": Infix(Power.OR, operations.disjunction),
        "and": Infix(Power.AND, operations.conjunction),
        "=": _COMPARISON,
        "!=": _COMPARISON,
        "<": _COMPARISON,
        "<=": _COMPARISON,
        ">": _COMPARISON,
        ">=": _COMPARISON,
        "between": Infix(Power.COMPARISON, operations.between),
        "in": Infix(Power.COMPARISON, operations.in_),
        "instance": Infix(Power.COMPARISON, operations.instance_of),
        "+": _SUM,
        "-": _SUM,
        "*": _PRODUCT,
        "/": _PRODUCT,
        "**": operations.arithmetic(Power.EXPONENT),
        ".": Infix(Power.CHAIN, operations.path),
        "[": Infix(Power.CHAIN, operations.filter_),
        "(": Infix(Power.CHAIN, operations.invocation),
    },
)
