import pytest

from server.feel import Value, compile_expression


def value_of(text: str, **variables: Value) -> Value:
    return compile_expression(text).evaluate(variables).value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("true and true", True, id="true and true"),
        pytest.param("true and false", False, id="true and false"),
        pytest.param("null and false", False, id="null and false"),
        pytest.param("null and true", None, id="null and true"),
        pytest.param("1 and true", None, id="number counts as null"),
        pytest.param("false or true", True, id="false or true"),
        pytest.param("null or true", True, id="null or true"),
        pytest.param("null or false", None, id="null or false"),
        pytest.param('"a" or false', None, id="string counts as null"),
        pytest.param("false or true and false", False, id="and binds tighter"),
        pytest.param("not(true)", False, id="not"),
        pytest.param("not(null)", None, id="not null"),
    ],
)
def test_logic_has_three_values(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("if 1 < 2 then 3 else 4", 3, id="then"),
        pytest.param("if 1 > 2 then 3 else 4", 4, id="else"),
        pytest.param("if null then 3 else 4", 4, id="null"),
        pytest.param("if 1 then 3 else 4", 4, id="no boolean"),
        pytest.param("if false then 1 else if true then 2 else 3", 2, id="else if"),
        pytest.param("if true then if false then 1 else 2 else 3", 2, id="if inside then"),
        pytest.param("1 + (if true then 2 else 3)", 3, id="operand"),
    ],
)
def test_if_takes_the_first_branch_that_is_true(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))
