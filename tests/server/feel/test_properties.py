from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.feel import (
    DialectName,
    EvaluationError,
    FeelSyntaxError,
    Value,
    compile_expression,
    compile_unary_tests,
    parse_type,
)
from server.feel.dialects import STANDARD
from server.feel.json_text import pieces, read
from server.feel.parser import parse_expression, parse_unary_tests
from server.feel.printer import printed, printed_tests

WORDS = st.sampled_from(
    [
        "if",
        "then",
        "else",
        "for",
        "in",
        "return",
        "some",
        "every",
        "satisfies",
        "function",
        "and",
        "or",
        "not",
        "between",
        "instance",
        "of",
        "null",
        "true",
        "false",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ".",
        "..",
        ":",
        "+",
        "-",
        "*",
        "/",
        "**",
        "=",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "?",
        "`",
        '"',
        '"a"',
        "1",
        "2.5",
        "a",
        "b",
        "count",
        "string",
        "length",
        "item",
        "partial",
        "xs",
        "//",
        "/*",
        "*/",
        "@",
        "#",
        "date",
        "and",
        "time",
        "instance of list<number>",
        "external",
        "first name",
        "a-b",
        '@"2024-02-29"',
        '@"P1D"',
        'date("2024-02-29")',
        'duration("PT1H")',
        'range("[1..2]")',
        "time offset",
        "1e3",
    ]
)
NUMBERS = st.integers(-(10**33), 10**33) | st.decimals(
    allow_nan=False, allow_infinity=False, places=6, min_value=-(10**20), max_value=10**20
)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
    max_leaves=10,
)
NAMES = frozenset({"first name", "a-b", "for all"})
SCOPE: dict[str, Value] = {"a": 1, "b": {"a": [1, 2]}, "xs": [{"a": 1}, {"b": None}, 3]}


def result_of(text: str, **variables: Value) -> Value:
    return compile_expression(text).evaluate(variables).value


@given(text=st.text() | st.lists(WORDS, max_size=30).map(" ".join))
@pytest.mark.parametrize("dialect", ["camunda", "standard"])
def test_any_text_is_evaluated_or_refused(text: str, dialect: DialectName) -> None:
    try:
        compile_expression(text, names=NAMES, dialect=dialect).evaluate(SCOPE)
        compile_unary_tests(text, names=NAMES, dialect=dialect).evaluate(1, SCOPE)
    except (FeelSyntaxError, EvaluationError):
        return


@given(st.text() | st.lists(WORDS, max_size=5).map(" ".join))
def test_any_text_is_a_type_or_refused(text: str) -> None:
    try:
        parse_type(text)
    except FeelSyntaxError:
        return


@given(st.text())
def test_any_text_is_a_temporal_value_or_null(text: str) -> None:
    functions = "[date(x), time(x), date and time(x), duration(x), range(x), number(x), from json(x)]"

    assert len(compile_expression(functions).evaluate({"x": text}).value) == functions.count("x)")


@given(st.text() | st.lists(WORDS, max_size=12).map(" ".join))
def test_any_text_that_is_read_is_printed_as_it_is_read(text: str) -> None:
    try:
        once = printed(parse_expression(text, NAMES, STANDARD))
    except FeelSyntaxError:
        return

    assert once == printed(parse_expression(once, NAMES, STANDARD))


@given(st.text() | st.lists(WORDS, max_size=12).map(" ".join))
def test_any_text_that_is_read_as_tests_is_printed_as_it_is_read(text: str) -> None:
    try:
        once = printed_tests(parse_unary_tests(text, NAMES, STANDARD))
    except FeelSyntaxError:
        return

    assert once == printed_tests(parse_unary_tests(once, NAMES, STANDARD))


@given(NUMBERS, NUMBERS)
def test_addition_and_multiplication_commute(a: Decimal, b: Decimal) -> None:
    assert result_of("a + b", a=a, b=b) == result_of("b + a", a=a, b=b)
    assert result_of("a * b", a=a, b=b) == result_of("b * a", a=a, b=b)


@given(st.integers(-(10**30), 10**30), st.integers(-(10**30), 10**30))
def test_subtraction_undoes_addition(a: int, b: int) -> None:
    assert a == result_of("a + b - b", a=a, b=b)


@given(st.integers(-(10**15), 10**15), st.integers(-(10**15), 10**15).filter(bool))
def test_division_undoes_multiplication(a: int, b: int) -> None:
    assert a == result_of("a * b / b", a=a, b=b)


@given(*[st.integers(-(10**10), 10**10)] * 3)
def test_whole_numbers_associate_and_distribute(a: int, b: int, c: int) -> None:
    assert result_of("a + (b + c) = a + b + c and a * (b * c) = a * b * c", a=a, b=b, c=c) is True
    assert result_of("a * (b + c) = a * b + a * c", a=a, b=b, c=c) is True


@given(st.integers(-(10**15), 10**15), st.integers(-(10**15), 10**15).filter(bool))
def test_a_remainder_is_what_whole_division_leaves(a: int, b: int) -> None:
    assert result_of("floor(a / b) * b + modulo(a, b) = a", a=a, b=b) is True
    assert result_of("if b > 0 then modulo(a, b) in [0..b) else modulo(a, b) in (b..0]", a=a, b=b) is True


@given(st.lists(NUMBERS))
def test_a_sum_is_what_adding_one_by_one_gives(numbers: list[Value]) -> None:
    one_by_one = "(for x in xs return if count(partial) = 0 then x else partial[-1] + x)[-1]"

    assert result_of("x = y", x=result_of("sum(xs)", xs=numbers), y=result_of(one_by_one, xs=numbers)) is True


@given(*[st.none() | st.booleans()] * 2)
def test_a_negated_conjunction_is_the_disjunction_of_negations(a: bool | None, b: bool | None) -> None:  # noqa: FBT001
    assert result_of("not(a and b)", a=a, b=b) is result_of("not(a) or not(b)", a=a, b=b)
    assert result_of("not(a or b)", a=a, b=b) is result_of("not(a) and not(b)", a=a, b=b)


@given(st.lists(NUMBERS) | st.lists(st.text()))
def test_sorting_by_the_order_puts_all_in_it(items: list[Value]) -> None:
    ordered = result_of("sort(xs, function(a, b) a < b)", xs=items)

    assert sorted(items) == ordered  # type: ignore[type-var]  # all of one type


@given(st.one_of(st.tuples(*[NUMBERS] * 3), st.tuples(*[st.text()] * 3)))
def test_between_and_in_say_the_same(values: tuple[Value, Value, Value]) -> None:
    x, a, b = values
    texts = ("x between a and b", "x in [a..b]", "x >= a and x <= b", "not(x < a or x > b)")

    assert len({result_of(text, x=x, a=a, b=b) for text in texts}) == 1


@given(NUMBERS, NUMBERS)
def test_exactly_one_order_holds(a: Decimal, b: Decimal) -> None:
    assert [result_of(text, a=a, b=b) for text in ("a < b", "a = b", "a > b")].count(True) == 1


@given(NUMBERS)
def test_a_number_is_read_as_it_is_written(number: Decimal) -> None:
    assert result_of("number(string(n)) = n", n=number) is True


@given(VALUES)
def test_a_value_equals_itself(value: Value) -> None:
    assert result_of("x = x and [x] = [x] and not([x] != [x])", x=value) is True


@given(st.lists(VALUES))
def test_distinct_values_are_the_items_without_their_duplicates(items: list[Value]) -> None:
    assert result_of("count(duplicate values(distinct values(xs))) = 0", xs=items) is True
    assert result_of("every x in xs satisfies list contains(distinct values(xs), x)", xs=items) is True


@given(VALUES)
def test_json_keeps_a_value(value: Value) -> None:
    assert result_of("[x] = [y]", x=value, y=read("".join(pieces(value)))) is True


@given(st.lists(st.integers()), st.integers())
def test_a_filter_and_its_opposite_share_the_items_out(items: list[int], bound: int) -> None:
    parts = result_of("concatenate(xs[item < n], xs[item >= n])", xs=items, n=bound)

    assert sorted(items) == sorted(parts)
