import pytest

from server.feel import (
    DialectName,
    FeelSyntaxError,
    Range,
    Value,
    compile_expression,
    compile_unary_tests,
)

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
        pytest.param("not([1..5))", 3, False, id="negated range that a parenthesis closes"),
        pytest.param("not((1..5], [7..9))", 6, True, id="negated ranges"),
        pytest.param("not(]1..5[)", 5, True, id="negated range of brackets"),
        pytest.param("not(? > 2) or ? > 4", 5, True, id="not at the start of a disjunction"),
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


@pytest.mark.parametrize(
    ("tests", "camunda", "standard"),
    [
        pytest.param("[1..null]", None, None, id="no end"),
        pytest.param("[6..null]", None, False, id="no end, and before the start"),
        pytest.param("[null..1]", None, False, id="no start, and after the end"),
        pytest.param('[6.."a"]', None, False, id="end of another type"),
        pytest.param("(null..10)", None, None, id="no start, open"),
        pytest.param("[null..9], 3", True, True, id="another test that holds"),
        pytest.param("not([6..null])", None, True, id="negated"),
        pytest.param("? in [6..null]", None, False, id="after in"),
        pytest.param("[1..2]", False, False, id="both ends"),
    ],
)
def test_a_range_with_an_end_that_cannot_be_compared(tests: str, camunda: Value, standard: Value) -> None:
    assert compile_unary_tests(tests).evaluate(3, {}).value is camunda
    assert compile_unary_tests(tests, dialect="standard").evaluate(3, {}).value is standard


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("2 in ([1, 2])[2]", True, id="filter"),
        pytest.param("2 in ({a: 2}).a", True, id="path"),
        pytest.param("3 in (1) + 2", True, id="sum"),
        pytest.param("2 in (1..5) and true", True, id="range"),
        pytest.param("1 in (2..5).start", False, id="start of a range"),
        pytest.param("2 in (1, 2) or false", True, id="several tests"),
    ],
)
def test_parentheses_after_in_may_be_those_of_an_operand(text: str, expected: Value) -> None:
    assert compile_expression(text).evaluate({}).value is expected


@pytest.mark.parametrize("text", ["1 in (2, 3).x", "1 in (2, 3) + 1", "1 instance of number + 1"])
def test_several_tests_and_types_are_no_operands(text: str) -> None:
    with pytest.raises(FeelSyntaxError, match="expected an operator or the end"):
        compile_expression(text)
