import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.feel import FeelSyntaxError, compile_expression
from server.feel.dialects import STANDARD
from server.feel.parser import parse_expression, parse_unary_tests
from server.feel.printer import printed, printed_tests

OPERANDS = st.sampled_from(
    [
        "1",
        "2.50",
        "a",
        "`b c`",
        '"q\\"s\\\\"',
        "null",
        "true",
        "[]",
        "{}",
        "?",
        '@"P1D"',
        "f()",
        "[1..2]",
        "(1..2)",
    ]
)
FORMS = (
    "({0}) + {1}",
    "{0} - ({1})",
    "-{0}",
    "({0}) ** {1}",
    "({0}) = {1}",
    "({0}) and {1} and {2}",
    "{0} or ({1})",
    "if {0} then {1} else {2}",
    "if {0} then 1 else if {1} then 2 else {2}",
    "for x in {0}, y in {1} return {2}",
    "for x in 1..({0}) return x",
    "every x in {0} satisfies {1}",
    "({0})[{1}]",
    "({0}).key",
    "({0}).time offset",
    "({0}).`a b`",
    "({0}).f({1})",
    "count({0})",
    "substring(string: {0}, start position: {1})",
    "({0}) between {1} and {2}",
    "({0}) in ({1}, < {2})",
    "({0}) in [{1}..{2}]",
    "({0}) instance of context<a: list<number>>",
    "[{0}, {1}]",
    '{{a: {0}, "b c": {1}}}',
    "function(a, b: number) {0}",
    "function(a) external {{java: {0}}}",
    "({0})({1})",
)
EXPRESSIONS = st.recursive(
    OPERANDS,
    lambda parts: st.builds(
        lambda form, one, two, three: f"({form.format(one, two, three)})",
        st.sampled_from(FORMS),
        parts,
        parts,
        parts,
    ),
    max_leaves=8,
)


@given(EXPRESSIONS)
def test_what_is_printed_is_read_as_the_same_tree(text: str) -> None:
    once = printed(parse_expression(text, dialect=STANDARD))

    assert once == printed(parse_expression(once, dialect=STANDARD))


@given(st.lists(EXPRESSIONS, max_size=3), st.booleans())
def test_unary_tests_are_printed_as_they_are_read(tests: list[str], is_negated: bool) -> None:  # noqa: FBT001
    listed = ", ".join(tests)
    once = printed_tests(
        parse_unary_tests(f"not({listed or '1'})" if is_negated else listed, dialect=STANDARD)
    )

    assert once == printed_tests(parse_unary_tests(once, dialect=STANDARD))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a+b * c", "a + (b * c)"),
        ("(a + b) * c", "(a + b) * c"),
        ("if(a)then 1 else if b then 2 else 3", "if a then 1 else if b then 2 else 3"),
        ("a.b[item>1].c", "a.b[item > 1].c"),
        ("{a:1, b c:2}", '{"a": 1, "b c": 2}'),
        ("x in(<5,[1..3))", "x in (< 5, [1..3))"),
        ("1 in ((2..3))", "1 in ((2..3))"),
        ('@"PT36H"', '@"P1DT12H"'),
        ("`a b`(1)", "(`a b`)(1)"),
        ("1e3", "1000"),
        ("function(a:list<number>)a", "function(a: list<number>) a"),
        ("-(-1)", "-(-1)"),
        ("a instance of range<date and time>", "a instance of range<date and time>"),
        (
            "a instance of function<number,list<string>>->context<b c:Any>",
            "a instance of function<number, list<string>> -> context<b c: Any>",
        ),
        ("some x in 1..2 satisfies x", "some x in 1..2 satisfies x"),
        ("a and (b and c)", "a and (b and c)"),
    ],
)
def test_an_expression_is_printed(text: str, expected: str) -> None:
    assert expected == printed(parse_expression(text, dialect=STANDARD))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "-"),
        ("-", "-"),
        ("not( <5,7 )", "not(< 5, 7)"),
        ("(not(x))", "(not(x))"),
        ("<5,?>7", "< 5, ? > 7"),
    ],
)
def test_tests_are_printed(text: str, expected: str) -> None:
    assert expected == printed_tests(parse_unary_tests(text))


@given(EXPRESSIONS)
def test_what_is_printed_means_the_same(text: str) -> None:
    try:
        first = compile_expression(text)
        second = compile_expression(printed(parse_expression(text)))
    except FeelSyntaxError:
        return

    assert first.variables == second.variables
