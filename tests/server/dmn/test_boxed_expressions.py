import pytest

from server.dmn.logic.contexts import MAX_ENTRIES
from server.feel import Value
from tests.server.dmn.models import context, evaluated, function, invocation, literal

CONDITIONAL = f"<conditional><if>{literal('x')}</if><then>{literal('1')}</then><else>{literal('2')}</else></conditional>"
LIST = f"<list>{literal('x')}{literal('x + 1')}{context(('a', literal('x')))}</list>"
RELATION = (
    '<relation><column name="a"/><column name="b"/>'
    f"<row>{literal('x')}{literal('2')}</row><row>{literal('3')}{literal('4')}</row></relation>"
)


def loop(tag: str, body: str, result: str = "satisfies") -> str:
    return f'<{tag} iteratorVariable="e"><in>{literal("x")}</in><{result}>{literal(body)}</{result}></{tag}>'


def matching(condition: str) -> str:
    return f"<filter><in>{literal('x')}</in><match>{literal(condition)}</match></filter>"


@pytest.mark.parametrize(
    ("logic", "x", "expected"),
    [
        pytest.param(CONDITIONAL, True, 1, id="then"),
        pytest.param(CONDITIONAL, False, 2, id="else"),
        pytest.param(CONDITIONAL, None, 2, id="null is not true"),
        pytest.param(CONDITIONAL, "true", None, id="a condition that is no boolean"),
        pytest.param(LIST, 1, [1, 2, {"a": 1}], id="list"),
        pytest.param(RELATION, 1, [{"a": 1, "b": 2}, {"a": 3, "b": 4}], id="relation"),
        pytest.param(loop("for", "e * 2", "return"), [1, 2], [2, 4], id="for"),
        pytest.param(loop("for", "e * 2", "return"), [], [], id="for nothing"),
        pytest.param(loop("for", "e * 2", "return"), None, None, id="for null"),
        pytest.param(loop("some", "e > 1"), [1, 2], True, id="some"),
        pytest.param(loop("some", "e > 1"), [], False, id="some of nothing"),
        pytest.param(loop("some", 'if e > 1 then true else "no"'), [1, 2], None, id="some with no boolean"),
        pytest.param(loop("every", "e > 1"), [1, 2], False, id="every"),
        pytest.param(loop("every", "e > 1"), [], True, id="every of nothing"),
        pytest.param(matching("item > 1"), [1, 2, 3], [2, 3], id="filter"),
        pytest.param(matching("a > 1"), [{"a": 1}, {"a": 2}], [{"a": 2}], id="filter contexts"),
        pytest.param(matching('"yes"'), [1], None, id="filter with no boolean"),
    ],
)
def test_a_boxed_expression_has_its_value(logic: str, x: Value, expected: Value) -> None:
    assert expected == evaluated(logic, x=x).value


def test_an_entry_sees_the_entries_before_it() -> None:
    logic = context(("a", literal("1")), ("a b", literal("a + 1")), ("c", literal("a b * 10")))

    assert evaluated(logic).value == {"a": 1, "a b": 2, "c": 20}


def test_an_entry_without_a_name_is_the_value_of_the_context() -> None:
    assert evaluated(context(("a", literal("1")), ("", literal("a + 1")))).value == 2


def test_a_function_sees_what_is_around_its_definition_and_not_around_its_call() -> None:
    logic = context(
        ("a", literal("1")),
        ("f", function(["b"], literal("a + b"))),
        ("g", context(("a", literal("100")), ("", literal("f(10)")))),
        ("", literal("g")),
    )

    assert evaluated(logic).value == 11


def test_an_invocation_binds_parameters_by_name() -> None:
    logic = context(("f", function(["a", "b"], literal("a - b"))), ("", invocation("f", b="1", a="10")))

    assert evaluated(logic).value == 9


@pytest.mark.parametrize(
    ("logic", "message"),
    [
        pytest.param(
            context(("f", function(["a"], literal("1"))), ("", invocation("f", z="1"))),
            "the function has no parameter 'z'",
            id="unknown parameter",
        ),
        pytest.param(
            context(("f", function(["a:number"], literal("1"))), ("", invocation("f", a='"one"'))),
            "expected number for 'a'",
            id="argument of another type",
        ),
        pytest.param(
            context(("f", literal("5")), ("", invocation("f", a="1"))),
            "expected a function",
            id="no function",
        ),
        pytest.param(
            context(("f", function(["a"], literal("1"), kind="Java")), ("", invocation("f", a="1"))),
            "expected a function in FEEL, found one in Java",
            id="Java",
        ),
    ],
)
def test_an_impossible_invocation_is_null_and_says_why(logic: str, message: str) -> None:
    evaluation = evaluated(logic)

    assert evaluation.value is None
    assert any(message in failure.message for failure in evaluation.failures)


def test_a_function_that_calls_itself_for_ever_fails() -> None:
    logic = context(("f", function(["g"], literal("g(g)"))), ("", literal("f(f)")))

    evaluation = evaluated(logic)

    assert evaluation.value is None
    assert evaluation.failure is not None
    assert "nested deeper" in evaluation.failure.message


def test_a_context_of_too_many_entries_is_a_problem() -> None:
    logic = context(*((f"e{number}", literal("1")) for number in range(MAX_ENTRIES + 1)))

    assert f"at most {MAX_ENTRIES} entries" in evaluated(logic).failures[0].message
