import pytest

from server.feel import Value, compile_expression


def value_of(text: str, **variables: Value) -> Value:
    return compile_expression(text).evaluate(variables).value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("{f: function(a, b) a - b, x: f(3, 1)}.x", 2, id="by position"),
        pytest.param("{f: function(a, b) a - b, x: f(b: 3, a: 1)}.x", -2, id="by name"),
        pytest.param("{f: function(a, b) b, x: f(a: 1)}.x", None, id="missing argument"),
        pytest.param("{c: {f: function(a) a + 1}, x: c.f(1)}.x", 2, id="through a path"),
        pytest.param(
            "{n: 10, f: function(a) a + n, x: for n in [1] return f(1)}.x",
            [11],
            id="sees where it was defined",
        ),
        pytest.param("{count: function(a) 42, x: count([1])}.x", 42, id="shadows a builtin"),
        pytest.param(
            "{fs: for i in 1..3 return function() i, x: for f in fs return f()}.x",
            [1, 2, 3],
            id="keeps its own surroundings",
        ),
        pytest.param(
            "{f: function(g, n) if n = 0 then 0 else g(g, n - 1) + 1, x: f(f, 5)}.x", 5, id="recursive"
        ),
        pytest.param("sort([3, 1, 2], function(x, y) x < y)", [1, 2, 3], id="given to a builtin"),
        pytest.param("{f: function(a) a, x: f(1, 2)}.x", None, id="too many arguments"),
    ],
)
def test_a_defined_function_is_called(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('string length("ab")', 2, id="name with spaces"),
        pytest.param('string   length("ab")', 2, id="any blanks in its name"),
        pytest.param('substring(start position: 2, string: "abc")', "bc", id="by name in any order"),
        pytest.param("unknown(1)", None, id="unknown"),
        pytest.param("count()", None, id="too few arguments"),
        pytest.param("count(liste: [1])", None, id="unknown parameter"),
        pytest.param("count(1)", None, id="wrong type"),
        pytest.param("if (true) then count([1]) else (2)", 1, id="parentheses are no call"),
        pytest.param("get or else(null, 1)", 1, id="name with a keyword"),
    ],
)
def test_a_builtin_is_called(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))
