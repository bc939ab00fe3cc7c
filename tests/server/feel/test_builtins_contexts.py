import pytest

from server.feel import Value, compile_expression


def value_of(text: str, **variables: Value) -> Value:
    return compile_expression(text).evaluate(variables).value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('get value({a: 1}, "a")', 1, id="value"),
        pytest.param('get value({a: {b: 1}}, ["a", "b"])', 1, id="value by path"),
        pytest.param('get value({}, "a")', None, id="missing value"),
        pytest.param("get entries({a: 1})", [{"key": "a", "value": 1}], id="entries"),
        pytest.param('context put({a: 1}, "a", 2)', {"a": 2}, id="put over"),
        pytest.param('context put({a: {b: 1}}, ["a", "c"], 2)', {"a": {"b": 1, "c": 2}}, id="put by path"),
        pytest.param('context put({}, ["a", "b"], 1)', {"a": {"b": 1}}, id="put where nothing was"),
        pytest.param("context put({}, [], 1)", None, id="put nowhere"),
        pytest.param(
            '{a: {x: 1}, b: context put(a, "x", 2)}',
            {"a": {"x": 1}, "b": {"x": 2}},
            id="the given context stays",
        ),
        pytest.param("context merge({a: 1, b: 1}, {b: 2})", {"a": 1, "b": 2}, id="merge"),
        pytest.param("context merge([{a: 1}, {b: 2}])", {"a": 1, "b": 2}, id="merge a list"),
        pytest.param("put all({a: 1}, {b: 2})", {"a": 1, "b": 2}, id="merge by an older name"),
        pytest.param('put({a: 1}, "b", 2)', {"a": 1, "b": 2}, id="put by an older name"),
        pytest.param('get value(m: {a: 1}, key: "a")', 1, id="value by an older name"),
        pytest.param("context merge({}, 1)", None, id="merge what is no context"),
        pytest.param("context(get entries({a: 1, b: 2}))", {"a": 1, "b": 2}, id="from entries"),
        pytest.param('context([{key: "a"}])', None, id="entry without a value"),
    ],
)
def test_context_functions(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))
