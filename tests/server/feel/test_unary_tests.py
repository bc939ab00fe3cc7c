import pytest

from server.feel import DialectName, Range, Value, compile_unary_tests

SCOPE: dict[str, Value] = {"xs": [1, 2], "range": Range(1, 9, start_included=True, end_included=True)}


@pytest.mark.parametrize(
    ("text", "input_value", "expected"),
    [
        pytest.param("-", 1, True, id="dash"),
        pytest.param("", 1, True, id="empty"),
        pytest.param("< 3", 2, True, id="comparison"),
        pytest.param("< 3", None, None, id="comparison with null"),
        pytest.param("= 3", 3, True, id="equality"),
        pytest.param("!= 3", 3, False, id="inequality"),
        pytest.param("[1..3]", 3, True, id="range"),
        pytest.param("]1..3]", 1, False, id="half open range"),
        pytest.param('"a", "b"', "b", True, id="any of several"),
        pytest.param("1, 2", 3, False, id="none of several"),
        pytest.param("not(1, 2)", 3, True, id="negated"),
        pytest.param("not(< 3)", None, None, id="negated unknown"),
        pytest.param("not(false) = true", None, True, id="not at the start of an expression"),
        pytest.param("1 + 2", 3, True, id="expression equals the input"),
        pytest.param("[1, 2]", 2, True, id="list that contains the input"),
        pytest.param("[1, 2]", [1, 2], True, id="list that equals the input"),
        pytest.param("xs", 2, True, id="variable"),
        pytest.param("false", False, True, id="literal false"),
        pytest.param("1 > 2", 5, False, id="expression that is false"),
        pytest.param("? > 2 and ? < 9", 5, True, id="input by name"),
        pytest.param("? + 1", 5, None, id="input in no condition"),
        pytest.param("5 in (? > 4)", 1, True, id="inner input hides the outer"),
        pytest.param('"a"', 1, None, id="incomparable"),
        pytest.param("null", None, True, id="null"),
        pytest.param("range", 5, True, id="range that is a value"),
    ],
)
def test_unary_tests_accept_or_refuse_an_input(text: str, input_value: Value, expected: Value) -> None:
    assert expected is compile_unary_tests(text).evaluate(input_value, SCOPE).value


@pytest.mark.parametrize(
    ("dialect", "text", "input_value", "expected"),
    [
        pytest.param("standard", "flag", True, True, id="same boolean"),
        pytest.param("standard", "flag", False, False, id="another boolean"),
        pytest.param("standard", "not(flag)", False, True, id="not the boolean"),
        pytest.param("standard", "? = flag or ? = 1", True, True, id="condition on the input"),
        pytest.param("standard", "flag", 5, True, id="condition that holds for any input but a boolean"),
        pytest.param("standard", "true, false", True, True, id="literals"),
        pytest.param("camunda", "flag", False, True, id="condition that holds for any input"),
        pytest.param("camunda", "not(flag)", False, False, id="condition that does not hold"),
    ],
)
def test_a_boolean_that_a_test_makes_is_compared_in_the_standard(
    dialect: DialectName, text: str, input_value: Value, *, expected: bool
) -> None:
    tests = compile_unary_tests(text, dialect=dialect)

    assert expected is tests.evaluate(input_value, {"flag": True}).value


@pytest.mark.parametrize(
    ("tests", "input_value", "expected"),
    [
        pytest.param("cellInput > 3", 5, True, id="condition"),
        pytest.param("cellInput", 5, True, id="the input itself"),
        pytest.param("< cellInput + 1", 5, True, id="bound"),
        pytest.param("[cellInput..9]", 5, True, id="range"),
        pytest.param("not(cellInput = 3)", 5, True, id="negated"),
        pytest.param("not(true)", 1, False, id="not true"),
        pytest.param("not(true)", False, False, id="not true, of false"),
        pytest.param("not(true)", None, False, id="not true, of null"),
        pytest.param("not(false)", 1, True, id="not false"),
        pytest.param("not(false)", False, False, id="not false, of false"),
        pytest.param("not(true, false)", 1, False, id="neither"),
        pytest.param("not(false, 1)", 1, False, id="neither false nor one"),
    ],
)
def test_unary_tests_of_camundas_dialect(tests: str, input_value: Value, expected: Value) -> None:
    assert compile_unary_tests(tests).evaluate(input_value, {}).value is expected
