from decimal import Decimal

import pytest

from server.feel import DialectName, Range, Value, compile_expression


def value_of(text: str, **variables: Value) -> Value:
    return compile_expression(text).evaluate(variables).value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("null", None, id="null"),
        pytest.param("true", True, id="true"),
        pytest.param("false", False, id="false"),
        pytest.param("7", 7, id="whole number"),
        pytest.param("007", 7, id="leading zeros"),
        pytest.param("-3", -3, id="negative"),
        pytest.param("1.50", Decimal("1.50"), id="fraction keeps its digits"),
        pytest.param(".5", Decimal("0.5"), id="no leading zero"),
        pytest.param(
            "12345678901234567890123456789012345",
            Decimal("1.234567890123456789012345678901234E+34"),
            id="rounded to 34 digits",
        ),
        pytest.param('"a b"', "a b", id="string"),
        pytest.param('""', "", id="empty string"),
        pytest.param('"a\nb"', "a\nb", id="line break inside a string"),
        pytest.param('"\\"q\\" \\\\ \\n \\t"', '"q" \\ \n \t', id="escapes"),
        pytest.param('"\\d"', "\\d", id="unknown escape stays"),
        pytest.param('"\\u00e9\\uD83D\\uDC0E"', "é🐎", id="escaped code units"),
        pytest.param("[1, [2], null]", [1, [2], None], id="list"),
        pytest.param("[]", [], id="empty list"),
        pytest.param(
            '{a: 1, "b c": 2, d e: 3, f+g: 4, h?: 5, `i`: 6}',
            {"a": 1, "b c": 2, "d e": 3, "f+g": 4, "h?": 5, "i": 6},
            id="context keys",
        ),
        pytest.param("{}", {}, id="empty context"),
        pytest.param("{a: 1, a: 2}", {"a": 2}, id="the last of two entries"),
        pytest.param(
            "{a: 1, b: a + 1, c: {a: b, d: a}}",
            {"a": 1, "b": 2, "c": {"a": 2, "d": 2}},
            id="entries see those before",
        ),
        pytest.param(
            "[1..2]", Range(start=1, end=2, start_included=True, end_included=True), id="closed range"
        ),
        pytest.param(
            '("a".."b")', Range(start="a", end="b", start_included=False, end_included=False), id="open range"
        ),
        pytest.param(
            "]1..2[",
            Range(start=1, end=2, start_included=False, end_included=False),
            id="range with reversed brackets",
        ),
    ],
)
def test_a_literal_is_its_value(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("\xa0\ufeff 1\u2003+\n2", 3, id="all kinds of blanks"),
        pytest.param("1 // one\n+ 2 // two", 3, id="line comments"),
        pytest.param("1 /* + 5 */ + 2", 3, id="block comment"),
        pytest.param('"a // b /* c */"', "a // b /* c */", id="none inside a string"),
    ],
)
def test_blanks_and_comments_do_not_matter(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))


@pytest.mark.parametrize("dialect", ["camunda", "standard"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("[1, 2, 3][item in ]1..3[]", [2], id="in a filter"),
        pytest.param("[5 in ]1..10[]", [True], id="in a list"),
        pytest.param("[ ]10..20[ ][1].end", 20, id="as an item"),
        pytest.param("count([ ]10..20[, ]1..2[ ])", 2, id="as items"),
        pytest.param("[] = []", True, id="no range but empty lists"),
        pytest.param("count([[], 1])", 2, id="no range but an empty list and an item"),
    ],
)
def test_brackets_that_point_away_are_read_inside_of_brackets(
    text: str, expected: Value, dialect: DialectName
) -> None:
    assert expected == compile_expression(text, dialect=dialect).evaluate({}).value
