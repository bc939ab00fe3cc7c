from decimal import Decimal

import pytest

from server.feel import Value, compile_expression


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
        pytest.param('number("1e3")', Decimal("1E+3"), id="exponent"),
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
    ],
)
def test_conversion_functions(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))
