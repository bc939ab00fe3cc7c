import pytest

from server.feel import Value, compile_expression


def value_of(text: str, **variables: Value) -> Value:
    return compile_expression(text).evaluate(variables).value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("1 = 1.0", True, id="numbers of any scale"),
        pytest.param('"a" = "a"', True, id="strings"),
        pytest.param("1 = true", None, id="number and boolean"),
        pytest.param('"1" = 1', None, id="string and number"),
        pytest.param("null = null", True, id="nulls"),
        pytest.param("1 = null", False, id="number and null"),
        pytest.param("1 != null", True, id="not null"),
        pytest.param('1 != "a"', None, id="different types"),
        pytest.param("[1, [2]] = [1.0, [2]]", True, id="lists"),
        pytest.param("[1] = [true]", False, id="one inside a list is not true"),
        pytest.param("{a: 1, b: 2} = {b: 2, a: 1}", True, id="contexts in any order"),
        pytest.param("{a: null} = {}", False, id="entry against none"),
        pytest.param("[1..2] = [1..2]", True, id="ranges"),
        pytest.param("[1..2] = [1..2)", False, id="ranges that end differently"),
        pytest.param("{f: function(x) x}.f = 1", None, id="function"),
    ],
)
def test_equality(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("1 < 1.5", True, id="numbers"),
        pytest.param('"a" < "b"', True, id="strings"),
        pytest.param("2 >= 2", True, id="equal"),
        pytest.param("true < false", None, id="booleans"),
        pytest.param('1 < "a"', None, id="different types"),
        pytest.param("null < 1", None, id="null"),
        pytest.param("[1] < [2]", None, id="lists"),
        pytest.param("2 between 1 and 3", True, id="between"),
        pytest.param("1 between 1 and 3 and 3 between 1 and 3", True, id="both bounds belong"),
        pytest.param("0 between 1 and null", False, id="below whatever the other bound is"),
        pytest.param("2 between 1 and null", None, id="unknown bound"),
    ],
)
def test_order(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("2 in [1..3]", True, id="closed range"),
        pytest.param("1 in (1..3)", False, id="open range"),
        pytest.param("3 in [1..3[", False, id="reversed bracket"),
        pytest.param("2 in (1, 2)", True, id="any of several"),
        pytest.param("4 in (< 2, > 3)", True, id="any of several tests"),
        pytest.param("2 in < 3 and true", True, id="and is outside"),
        pytest.param("2 in [1, 2]", True, id="list"),
        pytest.param("2 in {r: [1..3]}.r", True, id="range that is a value"),
        pytest.param("5 in ? > 3", True, id="test that names the input"),
        pytest.param('"b" in ["a".."c"]', True, id="strings"),
        pytest.param("null in [1..3]", None, id="null in a range"),
        pytest.param('"a" in (1, 2)', None, id="incomparable"),
        pytest.param("[1, 2] in ([1, 2], 3)", True, id="list among lists"),
    ],
)
def test_membership(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("1 instance of number", True, id="whole"),
        pytest.param("1.5 instance of number", True, id="fraction"),
        pytest.param("true instance of number", False, id="boolean is none"),
        pytest.param('"a" instance of string', True, id="string"),
        pytest.param("[] instance of list", True, id="list"),
        pytest.param("{} instance of context", True, id="context"),
        pytest.param("null instance of null", True, id="null"),
        pytest.param("null instance of Any", False, id="Any is no null"),
        pytest.param("1 instance of Any", True, id="Any"),
        pytest.param("(function(x) x) instance of function", True, id="function"),
        pytest.param("[1..2] instance of range", True, id="range"),
        pytest.param("1 instance of unheard", False, id="unknown type"),
        pytest.param("1 instance of days and time duration", False, id="type with spaces"),
    ],
)
def test_instance_of(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))
