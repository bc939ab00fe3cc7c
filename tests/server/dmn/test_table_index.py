"""The index finds what FEEL, asked cell by cell, accepts."""

from decimal import Decimal
from math import isqrt

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from server.dmn.constants import constant_of
from server.dmn.tables.cells import Span, spans_of
from server.dmn.tables.index import MAX_SET_BITS, Cell, Column
from server.dmn.tables.plain_cells import plain_spans
from server.feel import (
    MISSING,
    NO_NAMES,
    Date,
    DaysDuration,
    DialectName,
    MonthsDuration,
    Value,
    compile_expression,
    compile_unary_tests,
)
from server.feel.dialects import DIALECTS
from server.feel.parser import parse_unary_tests
from tests.server.dmn.models import evaluated, table

NUMBERS = st.sampled_from(["-1", "0", "1", "1.5", "2", "3", "2.0"])
STRINGS = st.sampled_from(['""', '"a"', '"b"', '"ba"', '"Z"'])
DATES = st.sampled_from(['@"2024-02-29"', 'date("2024-03-01")', '@"-0001-01-01"', 'date("2024-13-01")'])
DURATIONS = st.sampled_from(['@"P1D"', '@"PT25H"', '@"P1Y"', '@"P13M"'])
ORDERED = st.one_of(NUMBERS, STRINGS, DATES, DURATIONS)
CONSTANTS = st.one_of(ORDERED, st.sampled_from(["true", "false", "null"]))
COMPARISONS = st.builds("{} {}".format, st.sampled_from(["<", "<=", ">", ">="]), ORDERED)
RANGES = st.builds("{}{}..{}{}".format, st.sampled_from("[(]"), NUMBERS, NUMBERS, st.sampled_from("])["))
OTHERS = st.sampled_from(
    ["-", "not(1)", 'not("a")', "limit", "< limit", "[1, 2]", "? = 1", "date(2024, 3, 1)", "1 + 1"]
)
TESTS = st.one_of(CONSTANTS, COMPARISONS, RANGES, OTHERS)
CELLS = st.one_of(
    TESTS, st.lists(st.one_of(CONSTANTS, COMPARISONS, RANGES), min_size=2, max_size=4).map(", ".join)
)
INTERVALS = st.builds(
    lambda low, length: Span(Decimal, (low, 0), (low + length, 1)), st.integers(0, 9), st.integers(0, 4)
)
VALUES: st.SearchStrategy[Value] = st.sampled_from([
    None, True, False, -2, 0, 1, Decimal("1.0"), Decimal("1.7"), 2, 3, 4, "", "a", "b", "ba", "zz", Date(2024, 2, 29),
    Date(2025, 1, 1), Date(2024, 3, 1), MonthsDuration(12), DaysDuration(10**15), [1], ["a"], [], {"a": 1},
])  # fmt: skip
DIALECT_NAMES: st.SearchStrategy[DialectName] = st.sampled_from(["camunda", "standard"])


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=12), VALUES, VALUES, DIALECT_NAMES)
@example([("[1..2], > 1", "-"), ("< 3, >= 3", "-")], 2, None, "standard")
def test_the_index_finds_the_rules_that_feel_accepts(
    rules: list[tuple[str, str]], x: Value, y: Value, dialect: DialectName
) -> None:
    scope: dict[str, Value] = {"x": x, "y": y, "limit": 2}
    logic = table(["x", "y"], ["n"], *((*cells, "1") for cells in rules), hit_policy="COLLECT")

    evaluation = evaluated(logic, dialect, x=x, y=y, limit=2)

    assert [rule.index for rule in evaluation.evaluated[0].matched_rules] == [
        number
        for number, cells in enumerate(rules, 1)
        if all(
            compile_unary_tests(cell, dialect=dialect).evaluate(value, scope).value is True
            for cell, value in zip(cells, (x, y), strict=True)
        )
    ]


@given(CELLS)
@example("1, 2, ]1..2[, -1.5, = 3")
@example("1,")
@example("1e3")
@example(".5")
@example('"a\\n"')
@example("- 1 .. 2")
@example('(1.."a"]')
def test_a_plain_cell_has_the_spans_that_the_parser_finds(text: str) -> None:
    spans = plain_spans(text)

    assert spans is None or spans == parsed_spans(text)


@given(
    st.lists(
        st.sampled_from([*'[]().,-<>= 15"a\\?', "..", "true", "null", "\n", "not", "1.5"]), max_size=9
    ).map("".join)
)
def test_a_plain_text_is_feel_with_the_same_spans_or_value(text: str) -> None:
    spans, value = plain_spans(text), constant_of(text)

    assert spans is None or spans == parsed_spans(text)
    assert value is MISSING or (value, ()) == compile_expression(text).evaluate({})
    assert value is MISSING or type(value) is type(compile_expression(text).evaluate({}).value)


def parsed_spans(text: str, dialect: DialectName = "camunda") -> tuple[Span, ...] | None:
    return spans_of(parse_unary_tests(text, NO_NAMES, DIALECTS[dialect]))


@pytest.mark.parametrize(
    "text", ["", "-", "1", '"a", "b"', "< 5", "[1..2[", "true", "null", "- 3", '= "a"', "]0..1.5), > 7"]
)
def test_a_cell_of_constants_is_recognized_without_the_parser(text: str) -> None:
    assert plain_spans(text) is not None


def test_cells_of_constants_need_not_ask_feel() -> None:
    texts = ["-", "1", '"a", "b"', "< 5", "[1..2[", "true", "null", '>= date("2024-01-01")', "-3"]

    assert all(parsed_spans(text) is not None for text in texts)


def test_cells_that_say_more_are_left_to_feel() -> None:
    texts = ["not(1)", "limit", "< limit", "[1..limit]", "? > 1", "!= 1", '1, [1.."a"]', "< true"]

    assert all(parsed_spans(text, "standard") is None for text in texts)


@given(st.lists(st.lists(INTERVALS, max_size=3), min_size=1, max_size=8), st.integers(0, 9))
def test_a_large_column_that_keeps_few_sets_finds_the_same_rules(cells: list[list[Span]], value: int) -> None:
    count = isqrt(MAX_SET_BITS) + 1
    filling = [Cell((Span(Decimal, (100 + number, 0), (100 + number, 1)),)) for number in range(count)]
    rows = [Cell(tuple(spans)) for spans in cells]

    large, small = Column([*rows, *filling]), Column(rows)

    assert large.rules(value) == small.rules(value)
