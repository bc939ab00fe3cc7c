import pytest

from server.feel import compile_expression, compile_unary_tests


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a + b.c", {"a", "b"}, id="names and paths"),
        pytest.param("for x in xs return x + y", {"xs", "y"}, id="loop variable is its own"),
        pytest.param("{a: b, c: a}", {"b"}, id="context entry is its own"),
        pytest.param("{a: a}", {"a"}, id="context entry does not see itself"),
        pytest.param("function(a) a + b", {"b"}, id="parameter is its own"),
        pytest.param("xs[a > 1]", {"xs", "a"}, id="name in a filter may be outside"),
        pytest.param("xs[item > 1]", {"xs", "item"}, id="item in a filter may be outside"),
        pytest.param("count(xs)", {"xs"}, id="builtin is none"),
        pytest.param("score(x)", {"score", "x"}, id="function of the scope"),
        pytest.param("1 in (a, b)", {"a", "b"}, id="tests"),
        pytest.param("`a b`", {"a b"}, id="quoted name"),
    ],
)
def test_an_expression_knows_which_variables_it_reads(text: str, expected: set[str]) -> None:
    assert expected == compile_expression(text).variables


def test_unary_tests_know_which_variables_they_read() -> None:
    assert compile_unary_tests("< a, ? + b").variables == {"a", "b"}


def test_a_text_is_compiled_once() -> None:
    assert compile_expression("a + 1") is compile_expression("a + 1")


@pytest.mark.parametrize(("text", "expected"), [("1", True), ('"a"', True), ("a", False), ("1 + 1", False)])
def test_only_a_literal_is_constant(text: str, expected: bool) -> None:  # noqa: FBT001 - a row of the table
    assert expected is compile_expression(text).constant


def test_only_the_variables_that_are_needed_are_asked_for() -> None:
    asked: list[str] = []

    class Recording(dict[str, object]):
        def get(self, name: str, default: object = None, /) -> object:
            asked.append(name)
            return super().get(name, default)

    result = compile_expression("if a then b else c").evaluate(Recording(a=True, b=1, c=2))

    assert (result.value, asked) == (1, ["a", "b"])
