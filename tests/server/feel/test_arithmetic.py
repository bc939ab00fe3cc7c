from decimal import Decimal

import pytest

from server.feel import Value, compile_expression


def value_of(text: str, **variables: Value) -> Value:
    return compile_expression(text).evaluate(variables).value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("0.1 + 0.2", Decimal("0.3"), id="decimal fractions"),
        pytest.param("1 / 3", Decimal("0.3333333333333333333333333333333333"), id="34 digits"),
        pytest.param("8 / 4", 2, id="whole quotient"),
        pytest.param("7 / 2", Decimal("3.5"), id="fraction"),
        pytest.param("2 + 3 * 4 - 1", 13, id="precedence"),
        pytest.param("10 - 3 - 2", 5, id="from left to right"),
        pytest.param("2 ** 3 ** 2", 64, id="powers from left to right"),
        pytest.param("-2 ** 2", 4, id="sign before power"),
        pytest.param("2 ** -1", Decimal("0.5"), id="negative exponent"),
        pytest.param("2 ** 0.5", Decimal("1.4142135623730951"), id="root"),
        pytest.param("2 * -3", -6, id="sign behind an operator"),
        pytest.param("- - 3", 3, id="two signs"),
        pytest.param(
            "9999999999999999999999999999999999 + 1",
            Decimal("1.000000000000000000000000000000000E+34"),
            id="beyond 34 digits",
        ),
        pytest.param(
            "9999999999999999999999999999999999 * 10 + 5",
            Decimal("1.000000000000000000000000000000000E+35"),
            id="digits lost",
        ),
        pytest.param("0 * -1.0", Decimal("0.0"), id="no negative zero"),
        pytest.param('"a" + "b" + "c"', "abc", id="strings"),
    ],
)
def test_arithmetic_is_exact(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("1 / 0", None, id="division by zero"),
        pytest.param("0 / 0", None, id="zero by zero"),
        pytest.param("0 ** -1", None, id="zero to a negative power"),
        pytest.param("(-8) ** 0.5", None, id="root of a negative number"),
        pytest.param("10 ** 9999", None, id="beyond all bounds"),
        pytest.param('1 + "a"', None, id="number and string"),
        pytest.param("1 + null", None, id="number and null"),
        pytest.param("true + true", None, id="booleans"),
        pytest.param('-"a"', None, id="sign of a string"),
        pytest.param('"a" * 2', None, id="product of a string"),
        pytest.param("[1] + [2]", None, id="lists"),
    ],
)
def test_arithmetic_without_a_result_is_null(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))
