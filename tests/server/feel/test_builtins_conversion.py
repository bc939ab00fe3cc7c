from decimal import Decimal

import pytest

from server.feel import Value, compile_expression
from server.feel.json_text import variable


def value_of(text: str, **variables: Value) -> Value:
    return compile_expression(text).evaluate(variables).value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("string(1.10)", "1.10", id="number to string"),
        pytest.param('string("a")', "a", id="string stays"),
        pytest.param("string(null)", None, id="null stays"),
        pytest.param('string([1, "a", {b: null}])', '[1, "a", {b:null}]', id="list to string"),
        pytest.param("string([1..2))", "[1..2)", id="range to string"),
        pytest.param('number("-1.5")', Decimal("-1.5"), id="string to number"),
        pytest.param('number("1e3")', 1000, id="exponent"),
        pytest.param('number("1.500,5", ".", ",")', Decimal("1500.5"), id="separators"),
        pytest.param('number("1", ".", ".")', None, id="same separators"),
        pytest.param('number("1", "x")', None, id="odd separator"),
        pytest.param('number("NaN")', None, id="not a number"),
        pytest.param("number(null)", None, id="null"),
        pytest.param(
            'from json("{\\"a\\": [1, 1.50, null]}")', {"a": [1, Decimal("1.50"), None]}, id="from JSON"
        ),
        pytest.param('from json("{")', None, id="bad JSON"),
        pytest.param('from json("NaN")', None, id="no JSON number"),
        pytest.param(
            'to json({a: [1, 1.50, "é\\"", true, null]})', '{"a":[1,1.50,"é\\"",true,null]}', id="to JSON"
        ),
        pytest.param("to json([])", "[]", id="empty list to JSON"),
        pytest.param(
            'to json([@"2024-02-29", @"10:00:00@Europe/Paris", @"P1D"])',
            '["2024-02-29","10:00:00@Europe/Paris","P1D"]',
            id="temporal values to JSON",
        ),
        pytest.param(
            'to json(@"2024-07-01T10:00:00@Europe/Paris")',
            '"2024-07-01T10:00:00+02:00[Europe/Paris]"',
            id="date-time in a named zone to JSON",
        ),
        pytest.param("to json([1..2))", '"[1..2)"', id="range to JSON"),
    ],
)
def test_conversion_functions(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{a: [1, 1.50, null], b: true}", '{"a":[1,1.50,null],"b":true}'),
        (
            '[@"2024-02-29", @"10:00:00@Europe/Paris", @"PT36H", @"P14M"]',
            '["2024-02-29","10:00:00@Europe/Paris","P1DT12H","P1Y2M"]',
        ),
        ('@"2024-07-01T10:00:00@Europe/Paris"', '"2024-07-01T10:00:00+02:00"'),
        ('@"2024-07-01T10:00:00"', '"2024-07-01T10:00:00"'),
        ("[1..2]", "null"),
        ("function(a) a", "null"),
    ],
)
def test_a_variable_is_kept_as_json(text: str, expected: str) -> None:
    assert expected == variable(value_of(text))
