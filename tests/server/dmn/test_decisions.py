"""Laws for every model and every evaluation of it."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.dmn import DecisionType, DmnError, compile_definitions
from server.dmn.session import MAX_EXPRESSIONS
from server.feel import Budget, DialectName, Ports, Value
from tests.server.dmn.models import (
    compiled,
    context,
    decision,
    definitions,
    function,
    input_data,
    invocation,
    knowledge_model,
    literal,
    service,
    table,
)

TEXTS = st.one_of(
    st.sampled_from([
        "", "-", "x", "x + 1", "1 +", "not(x)", "[x..", "f(x)", "f", "function(a) a", '"', "{a: x}", "x.a", "x[1]", "? > x",
        "x instance of t", "null", "b c", "for i in x return f(i)", "sum(x)", 'date("2024-01-01")', "a", "assert(x, false)",
    ]),
    st.text(max_size=8),
)  # fmt: skip
VALUES: st.SearchStrategy[Value] = st.recursive(
    st.sampled_from([None, True, 0, -3, "a", ""]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=4,
)
LOGICS = st.one_of(
    TEXTS.map(literal),
    st.builds(lambda a, b: context(("b c", literal(a)), ("", literal(b))), TEXTS, TEXTS),
    st.builds(lambda a, b: context(("f", function(["x:number"], literal(a))), ("r", invocation("f", x=b))), TEXTS, TEXTS),
    st.builds(
        lambda policy, rules: table(["x", "b"], ["o"], *rules, hit_policy=policy, output_values=["1, 2"]),
        st.sampled_from(["UNIQUE", "FIRST", "ANY", "PRIORITY", "COLLECT", "OUTPUT ORDER"]),
        st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=3),
    ),
)  # fmt: skip
DIALECTS: st.SearchStrategy[DialectName] = st.sampled_from(["camunda", "standard"])


@given(LOGICS, LOGICS, VALUES, DIALECTS)
def test_a_model_is_refused_or_gives_the_same_value_every_time(
    one: str, other: str, x: Value, dialect: DialectName
) -> None:
    xml = definitions(
        input_data("x"),
        knowledge_model("f", ["x"], one),
        decision("b", one, inputs=["x"], knowledge=["f"]),
        decision("d", other, inputs=["x"], requires=["b"], knowledge=["f"]),
        service("s", ["d"], input_data=["x"]),
    )
    try:
        model = compile_definitions(xml, dialect=dialect)
    except DmnError:
        return

    evaluations = [model.evaluate(target, {"x": x}) for target in ("d", "s", "d", "s")]

    assert [str(each.failures) for each in evaluations[:2]] == [
        str(each.failures) for each in evaluations[2:]
    ]
    assert all(each.value is None for each in evaluations if each.failure is not None)


def test_outlines_tell_the_decisions_of_a_model() -> None:
    model = compiled(
        decision("the first", literal("1")), decision("second", table(["1"], ["y"])), service("s", ["second"])
    )

    assert [(each.id, each.name, each.type) for each in model.outlines] == [
        ("thefirst", "the first", DecisionType.LITERAL_EXPRESSION),
        ("second", "second", DecisionType.DECISION_TABLE),
    ]


def test_the_time_is_the_one_that_the_caller_gives() -> None:
    ports = Ports(now=datetime(2026, 1, 2, tzinfo=UTC))
    model = compiled(
        decision("d", table(["today().year"], ["y"], ("2026", '"now"'), ("-", '"else"'), hit_policy="FIRST"))
    )

    assert model.evaluate("d", {}, ports=ports).value == "now"


def test_the_number_of_expressions_of_one_evaluation_is_bounded() -> None:
    numbers = literal("for n in 1..600 return n")
    inner = f'<for iteratorVariable="i"><in>{numbers}</in><return>{literal("1")}</return></for>'
    outer = f'<for iteratorVariable="j"><in>{numbers}</in><return>{inner}</return></for>'

    evaluation = compiled(decision("d", outer)).evaluate("d", {})

    assert evaluation.failure is not None
    assert f"more than {MAX_EXPRESSIONS} expressions" in evaluation.failure.message


def test_all_expressions_of_an_evaluation_share_the_steps_that_the_caller_grants() -> None:
    model = compiled(
        decision("a", literal("count(for n in 1..100 return n * n)")),
        decision("b", literal("a + count(for n in 1..100 return n * n)"), requires=["a"]),
    )

    a = model.evaluate("a", {}, ports=Ports(budget=Budget(800)))
    b = model.evaluate("b", {}, ports=Ports(budget=Budget(800)))

    assert (a.value, a.failure) == (100, None)
    assert b.failure is not None
    assert "together take too many steps" in b.failure.message


def test_values_that_rules_repeat_are_charged_at_each_rule() -> None:
    rules = [("-", "text")] * 100
    model = compiled(decision("d", table(["1"], ["y"], *rules, hit_policy="COLLECT")), dialect="camunda")

    found = [
        model.evaluate("d", {"text": "x" * length}, ports=Ports(budget=Budget(100_000)))
        for length in (1_000, 100_000)
    ]

    assert [each.failure is None for each in found] == [True, False]


@pytest.mark.parametrize("dialect", ["camunda", "standard"])
def test_variables_are_never_changed(dialect: DialectName) -> None:
    variables: dict[str, Value] = {"x": [1, {"a": 2}]}

    compiled(
        input_data("x"), decision("d", context(("x", literal("3"))), inputs=["x"]), dialect=dialect
    ).evaluate("d", variables)

    assert variables == {"x": [1, {"a": 2}]}
