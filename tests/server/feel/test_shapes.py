"""Unary tests of one shape say what each of them says when it is read by itself."""

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.feel import Budget, DialectName, EvaluationError, FeelSyntaxError, Ports, Value
from server.feel.dialects import DIALECTS
from server.feel.expressions import UnaryTests
from server.feel.shapes import SHARED_AFTER

READ_ALONE = frozenset({"a name that no text has"})
SCOPE: dict[str, Value] = {"x": 3, "y": "ab", "order": {"total": Decimal("2.5")}}

NUMBERS = st.one_of(st.integers(0, 20).map(str), st.sampled_from(["2.5", "0.1", "999999999999999"]))
STRINGS = st.sampled_from(['"a"', '"ab"', '""', '"1"', '"a // b"', '"{x}"', '"15 characters .."'])
CONSTANTS = st.one_of(NUMBERS, STRINGS)
TEMPLATES = st.sampled_from([
    "? > {}", "? * {} > {} and x < {}", "? + x > -{}", "? = {} or x = {}", "{} - {} < ?", "? in [{}..{}]",
    "contains(?, {})", "starts with(y, {}) or ? > {}", "if x > {} then ? > {} else ? < {}", "x, {}", "not(x, {})",
    "order.total > {}", "? - {} * {} > -{}", "abs(? - {}) < {}", "x / {} > ?", "? between {} and {}", "< x + {}",
    "? > x[{}]", "? in [{}..x]", "? in ({}...{}]", "[{}, x]", "{}", "> {}", "string length(y + {}) = {}", "cellInput > {}", "? + {} + {} > {}", "-(-{}) = ?",
    "x > {} /* {} */", "? > date({})", "substring(y, {}) = {}", "matches(?, {})", "?{} > 1", "x{} = {}", "{}.{} = ?",
])  # fmt: skip
VALUES: st.SearchStrategy[Value] = st.sampled_from(
    [None, True, 0, 3, -2, Decimal("2.5"), 10**33, "a", "ab", [1]]
)
DIALECT_NAMES: st.SearchStrategy[DialectName] = st.sampled_from(["camunda", "standard"])


def answer(tests: UnaryTests, value: Value) -> tuple[object, int]:
    """The result or the message of the error, and the steps that are left; by code where there is some."""
    budget = Budget(1_000)
    code = tests.code()
    result = None if code is None else code(SCOPE.get, value, budget)
    if result is not None:
        return result, budget.left
    try:
        return tests.evaluate(value, SCOPE, ports=Ports(budget=budget)).value, budget.left
    except EvaluationError as error:
        return str(error), 0


def read(text: str, names: frozenset[str], dialect: DialectName) -> UnaryTests | str:
    try:
        return UnaryTests(text, names, DIALECTS[dialect])
    except FeelSyntaxError as error:
        return str(error)


@given(TEMPLATES, st.data(), VALUES, DIALECT_NAMES)
def test_similar_tests_say_what_each_says_alone(
    template: str, data: st.DataObject, value: Value, dialect: DialectName
) -> None:
    texts = [re.sub(r"\{\}", lambda _: data.draw(CONSTANTS), template) for _ in range(SHARED_AFTER + 4)]

    for text in texts:
        tests, alone = read(text, frozenset(), dialect), read(text, READ_ALONE, dialect)
        if isinstance(alone, str):
            assert tests == alone
        else:
            assert isinstance(tests, UnaryTests)
            assert tests.variables == alone.variables
            assert answer(tests, value) == answer(alone, value)
            assert tests.node == alone.node


@pytest.mark.parametrize(
    ("template", "is_shared"),
    [
        pytest.param("? * {} > -2 and z1 < {}", True, id="sums"),
        pytest.param('contains(?, "a{}")', True, id="strings"),
        pytest.param("? > 1 and x in [1..{}]", True, id="ranges"),
        pytest.param("{}", False, id="constants alone, which the index of a table finds"),
        pytest.param("? > x * {}", True, id="operands"),
        pytest.param("? > {} * {}", False, id="constants that are computed from others"),
        pytest.param('? > date("2024-01-0{}")', False, id="strings that are read as dates"),
        pytest.param(
            'contains(?, "a string that is longer than a step {}")', False, id="strings that cost steps"
        ),
        pytest.param("? > {{a: {}}}.a", False, id="keys"),
        pytest.param("`x {}` > ?", False, id="names"),
    ],
)
def test_tests_that_differ_in_constants_share_their_code(template: str, *, is_shared: bool) -> None:
    texts = [
        template.replace("{}", str(number)).replace("{{", "{").replace("}}", "}") for number in range(1, 10)
    ]

    tests = [UnaryTests(f"{text} ", frozenset(), DIALECTS["camunda"]) for text in texts]

    assert [each.is_similar for each in tests] == [False] * SHARED_AFTER + [is_shared]


def test_a_mistake_is_found_in_a_text_that_looks_like_others() -> None:
    for number in range(SHARED_AFTER + 2):
        UnaryTests(f"? > {number} and ? != 7 ", frozenset(), DIALECTS["camunda"])

    for mistaken in ("? > 1 and ? == 7 ", "? > 1 and ? != 7. ", '? > 1 and ? != "7 ', "? > 1 and ? != 7 )"):
        with pytest.raises(FeelSyntaxError):
            UnaryTests(mistaken, frozenset(), DIALECTS["camunda"])
