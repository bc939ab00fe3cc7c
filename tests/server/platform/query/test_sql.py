"""The text of SQL statements; their meaning is tested where there are tables."""

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.platform.query import (
    AnyOf,
    Clause,
    Condition,
    Field,
    FieldType,
    Operator,
    Query,
    Related,
    Scalar,
    SortKey,
    Window,
    equals,
)
from server.platform.query.sql import Relation, count_of, page_of, page_of_few
from server.platform.query.sql.patterns import like_pattern, start_pattern
from tests.server.platform.query.runs import RUNS, Note, Run

TENANT = "acme"
NOTES = Relation.of(Note, "a.note")
VIEW = Relation.of(
    Run, "a.run", by_start=("business_id",), guarded=("state",), other=lambda entity: {Note: NOTES}[entity]
)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def condition(name: str, operator: Operator, operand: object) -> Condition:
    return Condition(RUNS.fields[name], operator, operand)  # type: ignore[arg-type]  # what the case says


def noted(text: str, *, is_wanted: bool = True) -> Related:
    condition = Condition(Field("text", FieldType.TEXT), Operator.EQ, text)
    return Related(RUNS.key, Note, "process_instance_key", (condition,), is_wanted)


def predicates(*conditions: Clause) -> tuple[str, list[object]]:
    """The conditions of a count beside the tenant, and its arguments."""
    statement = count_of(VIEW, conditions, tenant_id=TENANT)
    tenant = 'SELECT count(*) FROM a.run WHERE "tenant_id" = $1'
    assert statement.text.startswith(tenant)
    assert statement.arguments[0] == TENANT
    return statement.text.removeprefix(tenant).removeprefix(" AND "), list(statement.arguments[1:])


def order(*sort: SortKey, window: Window) -> str:
    """The conditions of a page after the tenant."""
    return page_of(VIEW, RUNS.query(sort=sort, window=window), tenant_id=TENANT).text.split(
        '"tenant_id" = $1'
    )[1]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("", ""),
        ("*", "%"),
        ("?", "_"),
        ("a*b?", "a%b_"),
        ("100%_", r"100\%\_"),
        (r"\*\?\\", r"*?\\"),
        ("a\\", r"a\\"),
        (r"\a", r"\\a"),
    ],
)
def test_a_pattern_is_spelled_as_like_has_it(pattern: str, expected: str) -> None:
    assert expected == like_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("abc*", "abc%"),
        ("abc", "abc%"),
        ("abcdef*", "abcd%"),
        (r"a\*c*", "a*c%"),
        ("a_?", r"a\_%"),
        ("*abc", None),
        ("?", None),
        ("", None),
    ],
)
def test_a_pattern_tells_how_its_matches_start(pattern: str, expected: str | None) -> None:
    assert expected == start_pattern(pattern, 4)


@pytest.mark.parametrize(
    ("asked", "text", "arguments"),
    [
        (equals(RUNS, "has_incident", value=True), '"has_incident" = $2', [True]),
        (
            condition("start_date", Operator.NEQ, NOON),
            '"start_date" IS DISTINCT FROM $2',
            [NOON],
        ),
        (condition("start_date", Operator.EXISTS, operand=True), '"start_date" IS NOT NULL', []),
        (condition("start_date", Operator.EXISTS, operand=False), '"start_date" IS NULL', []),
        (
            condition("process_instance_key", Operator.IN, (1, 2)),
            '"process_instance_key" = ANY($2::bigint[])',
            [[1, 2]],
        ),
        (
            condition("process_instance_key", Operator.NOT_IN, (1, 2)),
            '("process_instance_key" = ANY($2::bigint[])) IS NOT TRUE',
            [[1, 2]],
        ),
        (condition("tags", Operator.CONTAINS_EVERY, ("a",)), '"tags" @> $2', [["a"]]),
        (condition("tags", Operator.CONTAINS_NONE, ("a",)), 'NOT "tags" && $2', [["a"]]),
        (condition("business_id", Operator.LONGER_THAN, 9), 'char_length("business_id") > $2', [9]),
        (
            condition("process_instance_key", Operator.LIKE, "1*"),
            '"process_instance_key"::text LIKE $2',
            ["1%"],
        ),
    ],
)
def test_a_condition_is_a_predicate(asked: Condition, text: str, arguments: list[object]) -> None:
    assert (text, arguments) == predicates(asked)


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (condition("business_id", Operator.EQ, "a" * 63), 'left("business_id", 64) = $2'),
        (condition("business_id", Operator.GT, "a" * 63), 'left("business_id", 64) > $2'),
        (condition("business_id", Operator.GT, "a" * 64), '"business_id" > $2'),
        (
            condition("business_id", Operator.IN, ("a", "a" * 64)),
            'left("business_id", 64) = ANY($3) AND "business_id" = ANY($2)',
        ),
        (
            condition("business_id", Operator.LIKE, "a*"),
            'left("business_id", 64) LIKE $3 AND "business_id" LIKE $2',
        ),
        (condition("business_id", Operator.LIKE, "*a"), '"business_id" LIKE $2'),
        (
            condition("state", Operator.EQ, "a" * 256),
            '"state" = $2 AND (char_length("state") > 256) IS NOT TRUE',
        ),
        (condition("state", Operator.EQ, "a" * 257), '"state" = $2'),
        (condition("state", Operator.NEQ, "a"), '"state" IS DISTINCT FROM $2'),
    ],
)
def test_a_text_is_looked_for_in_what_an_index_has_of_it(asked: Condition, text: str) -> None:
    assert text == predicates(asked)[0]


OF_NOTES = 'SELECT "process_instance_key" FROM a.note WHERE "tenant_id" = $1 AND "text" = '
OF_RUNS = 'SELECT "process_instance_key" FROM a.run WHERE "tenant_id" = $1'
OF_ACTIVE = f'{OF_RUNS} AND "has_incident" = '
ACTIVE = equals(RUNS, "has_incident", value=True)


@pytest.mark.parametrize(
    ("asked", "text", "arguments"),
    [
        (noted("a"), f'"process_instance_key" IN ({OF_NOTES}$2)', ["a"]),
        (noted("a", is_wanted=False), f'"process_instance_key" NOT IN ({OF_NOTES}$2)', ["a"]),
        (
            AnyOf(((ACTIVE, condition("start_date", Operator.GT, NOON)), ())),
            '("has_incident" = $2 AND "start_date" > $3 OR TRUE)',
            [True, NOON],
        ),
        (
            AnyOf(((ACTIVE,), (noted("a"),))),
            f'"process_instance_key" IN ({OF_ACTIVE}$2 UNION ALL {OF_RUNS} AND "process_instance_key" IN ({OF_NOTES}$3))',
            [True, "a"],
        ),
    ],
    ids=["related", "not related", "alternatives", "alternatives with related"],
)
def test_a_clause_is_a_predicate(asked: Clause, text: str, arguments: list[object]) -> None:
    assert (text, arguments) == predicates(asked)


def test_what_no_column_holds_is_looked_for_as_what_stands_for_it() -> None:
    found = predicates(
        equals(RUNS, "state", "a\0"), condition("tags", Operator.CONTAINS_NONE, ("\0", "\ud800"))
    )

    assert found[1] == ["a\ufffd", ["\ufffd", "\ufffd"]]


START = SortKey(RUNS.fields["start_date"])
LATEST = SortKey(RUNS.fields["start_date"], is_descending=True)
INCIDENTS = SortKey(RUNS.fields["has_incident"], is_descending=True)


@pytest.mark.parametrize(
    ("sort", "position", "after", "before"),
    [
        ((), (5,), '"process_instance_key" > $3::bigint', '"process_instance_key" < $3::bigint'),
        (
            (INCIDENTS,),
            (True, 5),
            """"has_incident" <= $3 AND
            ("has_incident" < $3 OR "has_incident" = $3 AND "process_instance_key" > $4::bigint)""",
            """"has_incident" >= $3 AND
            ("has_incident" > $3 OR "has_incident" = $3 AND "process_instance_key" < $4::bigint)""",
        ),
        (
            (START,),
            (NOON, 5),
            """(("start_date" > $3 OR "start_date" IS NULL)
            OR "start_date" = $3 AND "process_instance_key" > $4::bigint)""",
            """"start_date" <= $3 AND
            ("start_date" < $3 OR "start_date" = $3 AND "process_instance_key" < $4::bigint)""",
        ),
        (
            (LATEST,),
            (None, 5),
            '("start_date" IS NULL AND "process_instance_key" > $3::bigint)',
            '("start_date" IS NOT NULL OR "start_date" IS NULL AND "process_instance_key" < $3::bigint)',
        ),
    ],
)
def test_a_page_lies_behind_or_before_a_position(
    sort: tuple[SortKey, ...], position: tuple[Scalar | None, ...], after: str, before: str
) -> None:
    found = [order(*sort, window=Window(2, after=position)), order(*sort, window=Window(2, before=position))]

    expected = [" ".join(text.split()) for text in (after, before)]
    assert expected == [text.split(" ORDER BY ")[0].removeprefix(" AND ") for text in found]


@pytest.mark.parametrize(
    ("sort", "forwards", "backwards"),
    [
        (START, '"start_date"', '"start_date" DESC'),
        (LATEST, '"start_date" DESC NULLS LAST', '"start_date" NULLS FIRST'),
        (INCIDENTS, '"has_incident" DESC', '"has_incident"'),
    ],
)
def test_missing_values_come_last_and_so_first_when_read_backwards(
    sort: SortKey, forwards: str, backwards: str
) -> None:
    position = (True if sort is INCIDENTS else NOON, 5)

    found = [order(sort, window=Window(2)), order(sort, window=Window(2, before=position))]

    key = '"process_instance_key"'
    expected = [f"{forwards}, {key}", f"{backwards}, {key} DESC"]
    assert expected == [text.split("ORDER BY ")[1].split(" LIMIT ")[0] for text in found]


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (Window(2), " LIMIT $2"),
        (Window(2, offset=3), " LIMIT $2 OFFSET $3"),
        (Window(None), ""),
        (Window(None, offset=3), " OFFSET $2"),
    ],
)
def test_a_window_has_a_beginning_and_a_length(window: Window, expected: str) -> None:
    assert f' ORDER BY "process_instance_key"{expected}' == order(window=window)


def test_an_index_that_has_the_start_of_a_text_gives_the_order_so_far() -> None:
    sort = (SortKey(RUNS.fields["business_id"]),)

    text = order(*sort, window=Window(2, offset=1))

    assert 'ORDER BY left("business_id", 64), left("business_id", 640), "process_instance_key"' in text


def test_an_order_with_an_index_is_read_in_two_parts() -> None:
    ordered = Relation.of(Run, "a.run", in_order=("start_date",))
    query = RUNS.query(sort=(LATEST,), window=Window(2))

    text = page_of(ordered, query, tenant_id=TENANT).text

    assert '"start_date" IS NOT NULL ORDER BY "start_date" DESC, "process_instance_key" LIMIT $2' in text
    assert '"start_date" IS NULL ORDER BY "process_instance_key" LIMIT $2' in text


_operators = st.sampled_from([Operator.EQ, Operator.IN, Operator.GT, Operator.LIKE])


@st.composite
def shapes(draw: st.DrawFn) -> tuple[Query, Query]:
    """Two queries that differ in their values alone."""
    names = draw(st.lists(st.sampled_from(["state", "business_id"]), max_size=3))
    operators = [draw(_operators) for _ in names]
    sort = draw(
        st.lists(st.builds(SortKey, st.sampled_from(list(RUNS.fields.values())), st.booleans()), max_size=2)
    )

    def query(value: str, number: int) -> Query:
        conditions = [
            condition(name, operator, (value,) * number if operator is Operator.IN else value)
            for name, operator in zip(names, operators, strict=True)
        ]
        return RUNS.query(*conditions, sort=sort, window=Window(number))

    return query("left out", draw(st.integers(1, 9))), query("someone else's", draw(st.integers(1, 9)))


@given(shapes())
def test_searches_of_one_shape_share_their_texts_and_no_value_stands_in_them(
    pair: tuple[Query, Query],
) -> None:
    one, other = pair

    for make in (page_of, page_of_few):
        text = make(VIEW, one, tenant_id="a tenant").text
        assert text == make(VIEW, other, tenant_id="another").text
        assert not re.search(r"tenant[^_]|left out|someone", text)
    assert (
        count_of(VIEW, one.clauses, tenant_id="a").text == count_of(VIEW, other.clauses, tenant_id="b").text
    )
