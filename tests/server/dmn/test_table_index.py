"""The index finds what FEEL, asked cell by cell, accepts."""

from decimal import Decimal
from math import isqrt

from hypothesis import example, given
from hypothesis import strategies as st

from server.dmn.tables.cells import Span, spans_of
from server.dmn.tables.index import MAX_INDEX_BITS, Column
from server.feel import NO_NAMES, Date, DaysDuration, DialectName, MonthsDuration, Value, compile_unary_tests
from server.feel.dialects import DIALECTS
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


def test_cells_of_constants_need_not_ask_feel() -> None:
    texts = ["-", "1", '"a", "b"', "< 5", "[1..2[", "true", "null", '>= date("2024-01-01")', "-3"]

    assert all(spans_of(text, NO_NAMES, DIALECTS["camunda"]) is not None for text in texts)


def test_cells_that_say_more_are_left_to_feel() -> None:
    texts = ["not(1)", "limit", "< limit", "[1..limit]", "? > 1", "!= 1", '1, [1.."a"]', "< true"]

    assert all(spans_of(text, NO_NAMES, DIALECTS["standard"]) is None for text in texts)


def test_a_column_that_is_too_large_to_index_is_left_to_feel() -> None:
    count = isqrt(MAX_INDEX_BITS) + 1

    column = Column([(), *((Span(Decimal, (number, 0), (number, 0)),) for number in range(count))])

    assert column.rules(1) == (1, (1 << count + 1) - 2)
