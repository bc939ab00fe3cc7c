from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from server.feel import EvaluationError, FeelSyntaxError, Value, compile_expression, compile_unary_tests
from server.feel.json_text import pieces, read

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
SCOPE: dict[str, Value] = {"a": 1, "b": {"a": [1, 2]}, "xs": [{"a": 1}, {"b": None}, 3]}


def result_of(text: str, **variables: Value) -> Value:
    return compile_expression(text).evaluate(variables).value


@given(st.text() | st.lists(WORDS, max_size=30).map(" ".join))
def test_any_text_is_evaluated_or_refused(text: str) -> None:
    try:
        compile_expression(text).evaluate(SCOPE)
        compile_unary_tests(text).evaluate(1, SCOPE)
    except (FeelSyntaxError, EvaluationError):
        return


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
