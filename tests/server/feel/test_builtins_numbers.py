from decimal import Decimal

import pytest

from server.feel import Value, compile_expression


def value_of(text: str, **variables: Value) -> Value:
    return compile_expression(text).evaluate(variables).value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("decimal(2.5, 0)", 2, id="half even"),
        pytest.param('decimal(2.5, 0, "HALF_UP")', 3, id="given mode"),
        pytest.param('decimal(2.5, 0, "half_up")', 3, id="mode in lower case"),
        pytest.param('decimal(2.5, 0, "SOMEHOW")', None, id="unknown mode"),
        pytest.param('decimal(2.5, 0, "UNNECESSARY")', None, id="rounding refused"),
        pytest.param("decimal(1.005, 2)", Decimal("1.00"), id="two digits"),
        pytest.param("decimal(155, -1)", 160, id="tens"),
        pytest.param("floor(-1.5)", -2, id="floor"),
        pytest.param("floor(-1.56, 1)", Decimal("-1.6"), id="floor of a digit"),
        pytest.param("ceiling(1.5)", 2, id="ceiling"),
        pytest.param("round up(1.01, 1)", Decimal("1.1"), id="up"),
        pytest.param("round down(-1.19, 1)", Decimal("-1.1"), id="down"),
        pytest.param("round half up(-1.5, 0)", -2, id="half up"),
        pytest.param("round half down(-1.5, 0)", -1, id="half down"),
        pytest.param(
            "abs(-1.12345678901234567890123456789012)",
            Decimal("1.12345678901234567890123456789012"),
            id="absolute keeps all digits",
        ),
        pytest.param("abs(n: -2)", 2, id="absolute by its other name"),
        pytest.param("modulo(-12, 5)", 3, id="modulo"),
        pytest.param("modulo(10.1, -4.5)", Decimal("-3.4"), id="modulo of fractions"),
        pytest.param("modulo(1, 0)", None, id="modulo zero"),
        pytest.param("modulo(0.5, 0)", None, id="modulo of a fraction by zero"),
        pytest.param("modulo(10 ** 40, 7)", 4, id="modulo of a long quotient"),
        pytest.param("modulo(-(10 ** 40), 7)", 3, id="modulo of a long negative quotient"),
        pytest.param("modulo(10 ** 40, -0.7)", Decimal("-0.2"), id="modulo of a long quotient by a fraction"),
        pytest.param("modulo(10 ** 6000, 3)", 1, id="modulo of the longest quotient"),
        pytest.param("sqrt(16)", Decimal("4.0"), id="root"),
        pytest.param("sqrt(-1)", None, id="root of a negative number"),
        pytest.param("log(0)", None, id="logarithm of zero"),
        pytest.param("exp(100000)", None, id="beyond a float"),
        pytest.param("odd(-3)", True, id="odd"),
        pytest.param("odd(1.5)", False, id="fraction is not odd"),
        pytest.param("even(0)", True, id="even"),
        pytest.param("even(1.5)", False, id="fraction is not even"),
    ],
)
def test_number_functions(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))


@pytest.mark.parametrize(
    "text",
    [
        "sqrt(10**400)",
        "log(10**400)",
        "exp(10**400)",
        "exp(1000)",
        "sqrt(-1)",
        "log(0)",
        "stddev([10**400, 0 - 10**400, 1])",
        "product([10**6000, 10**6000])",
        "sum([9*10**6144, 9*10**6144])",
        "(10**400)**0.5",
        "10**6144 * 10",
    ],
)
def test_a_result_that_is_no_number_is_null_with_a_reason(text: str) -> None:
    evaluation = compile_expression(text).evaluate({})

    assert (evaluation.value, len(evaluation.failures)) == (None, 1)
    assert "decimal." not in evaluation.failures[0].message


def test_a_function_says_that_its_result_is_out_of_range() -> None:
    evaluation = compile_expression("sqrt(10**400)").evaluate({})

    expected = "Failed to invoke function 'sqrt': the result is no number, or out of range"
    assert expected == evaluation.failures[0].message
