from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.feel import (
    NO_PORTS,
    Budget,
    Date,
    DialectName,
    Evaluation,
    EvaluationError,
    Expression,
    Ports,
    Value,
    compile_expression,
)
from server.feel.dialects import DIALECTS
from server.feel.errors import LimitExceededError
from server.feel.expressions import NO_NAMES, QUICK_AFTER
from server.feel.generated.block import STEPS
from server.feel.generated.quick import Quick, generate
from server.feel.limits import MAX_VALUE_DEPTH
from server.feel.parser import parse_expression
from tests.campaigns.dice import Dice
from tests.feelin.expressions import random_context, random_expression

ODD_VALUES = [
    None,
    True,
    "b",
    Decimal("2.5"),
    10**33,
    [1, [2, "b"]],
    [{"a": 1, "item": 3}, {"a": None}],
    {"a": [True], "item": 3},
    Date(2024, 2, 29),
]


def quick(text: str, dialect: DialectName = "camunda") -> Quick | None:
    return generate(parse_expression(text, NO_NAMES, DIALECTS[dialect]), DIALECTS[dialect])


def often(text: str, scope: dict[str, Value]) -> Expression:
    """Compile a text, and evaluate it until it has code of its own."""
    expression = compile_expression.__wrapped__(text)
    for _ in range(QUICK_AFTER):
        expression.evaluate(scope)
    return expression


def outcome(evaluate: Callable[[], Evaluation | None]) -> str:
    """Tell 1, true and a Decimal from each other, which Python takes as equal."""
    try:
        return repr(evaluate())
    except EvaluationError as error:
        return str(error)


@given(
    seed=st.integers(),
    odd=st.dictionaries(st.sampled_from(["a", "s", "p", "xs", "ss", "c", "cs"]), st.sampled_from(ODD_VALUES)),
    missing=st.sets(st.sampled_from(["b", "t", "q", "n", "xs", "cs"]), max_size=2),
    dialect=st.sampled_from([*DIALECTS]),
)
def test_the_code_of_a_text_agrees_with_its_closures_or_says_nothing(
    seed: int, odd: dict[str, Value], missing: set[str], dialect: DialectName
) -> None:
    dice = Dice(str(seed))
    text, variables = random_expression(dice), {**random_context(dice), **odd}
    scope = {name: value for name, value in variables.items() if name not in missing}

    code = quick(text, dialect) or (lambda _: None)
    quickly = outcome(lambda: code(scope))

    assert quickly in {"None", outcome(lambda: compile_expression(text, dialect=dialect).evaluate(scope))}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("0.1 + 0.2 = 0.3", True, id="exact numbers"),
        pytest.param("big + 1", Decimal(10**34), id="rounding"),
        pytest.param("1 / 8", Decimal("0.125"), id="division"),
        pytest.param("-half + whole", Decimal("2.5"), id="negation"),
        pytest.param("none = 1 or none != 1", True, id="null is no number"),
        pytest.param("whole between half and 3.5", True, id="between"),
        pytest.param('whole in (1, [2..4), "a")', True, id="membership"),
        pytest.param("rows[size > whole].size", [5], id="entry of the item, then variable"),
        pytest.param("boxes[item = 7].item", [7], id="entry named item"),
        pytest.param("{a: whole, b: a + 1, whole: b}.whole", 4, id="entries see those before"),
        pytest.param("for row in rows return row.size * whole", [6, 15], id="loop"),
        pytest.param("some size in rows.size satisfies size > 4", True, id="some"),
        pytest.param("every row in rows satisfies row.size > 4", False, id="every"),
        pytest.param("max(rows.size) + count(rows) + string length(word)", 11, id="builtins"),
        pytest.param("rows[-1].size", 5, id="index"),
        pytest.param("rows[3]", None, id="index outside"),
        pytest.param("`steps` + get + `None` + `v1`", 10, id="names of the code itself"),
        pytest.param(
            'word + "\\"); raise SystemExit(\\""', 'word"); raise SystemExit("', id="hostile string"
        ),
    ],
)
def test_what_is_evaluated_often_stays_the_same(text: str, expected: Value) -> None:
    scope: dict[str, Value] = {
        "big": 10**34 - 1,
        "half": Decimal("0.5"),
        "whole": 3,
        "none": None,
        "word": "word",
        "rows": [{"size": 2}, {"size": 5}],
        "boxes": [{"item": 7}, {"item": 8}],
        "steps": 1,
        "get": 2,
        "None": 3,
        "v1": 4,
    }

    evaluation = often(text, scope).evaluate(scope)

    assert (expected, ()) == (evaluation.value, evaluation.failures)
    assert type(expected) is type(evaluation.value)


def test_what_the_code_does_not_know_is_left_to_the_closures() -> None:
    expression = often("total > 100", {"total": 120})

    scopes: list[dict[str, Value]] = [{"total": "many"}, {"total": Decimal("100.5")}, {"total": None}, {}]
    evaluations = [expression.evaluate(scope) for scope in scopes]

    assert [each.value for each in evaluations] == [None, True, None, None]
    assert [len(each.failures) for each in evaluations] == [1, 0, 1, 2]


@pytest.mark.parametrize(
    ("text", "item"),
    [
        pytest.param("for x in xs return x", 1, id="loop"),
        pytest.param("xs[item > 0]", 1, id="filter"),
        pytest.param("some x in xs satisfies x < 0", 1, id="some"),
        pytest.param("count(xs)", 1, id="builtin"),
        pytest.param("xs.a", {"a": 1}, id="path"),
    ],
)
def test_the_code_gives_up_before_a_limit_is_near(text: str, item: Value) -> None:
    scope: dict[str, Value] = {"xs": [item] * (STEPS + 1)}

    code = quick(text)

    assert code is not None
    assert code(scope) is None


def test_a_result_that_is_too_deep_is_refused_however_often_a_text_is_evaluated() -> None:
    expression = often("value", {"value": 1})
    scope: dict[str, Value] = {"value": []}
    for _ in range(MAX_VALUE_DEPTH):
        scope["value"] = [scope["value"]]

    with pytest.raises(LimitExceededError):
        expression.evaluate(scope)


def test_time_and_chance_are_those_of_the_ports_however_often_a_text_is_evaluated() -> None:
    year, chance = often("now().year", {}), often("random number()", {})

    values = [
        year.evaluate({}, Ports(now=datetime(number, 1, 1, tzinfo=UTC))).value for number in (2024, 2026)
    ]

    assert values == [2024, 2026]
    assert Decimal("0.5") == chance.evaluate({}, Ports(bits=lambda count: 1 << count - 1)).value


def test_a_budget_is_spent_however_often_a_text_is_evaluated() -> None:
    scope: dict[str, Value] = {"xs": [*range(100)]}
    expression, budgets = often("sum(for x in xs return x)", scope), (Budget(1_000), Budget(1_000))

    expression.evaluate(scope, Ports(budget=budgets[0]))
    compile_expression.__wrapped__("sum(for x in xs return x)").evaluate(scope, Ports(budget=budgets[1]))

    assert budgets[0].left == budgets[1].left < 1_000
    with pytest.raises(LimitExceededError):
        expression.evaluate(scope, Ports(budget=Budget(10)))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x" + " + 1" * 1_000, id="long"),
        pytest.param("(" * 90 + "x" + " + 1)" * 90, id="deep"),
        pytest.param("if x = 0 then 0 else " * 90 + "x", id="many branches"),
        pytest.param("function(a) a", id="function"),
        pytest.param("for i in 1..3 return partial", id="partial"),
    ],
)
def test_a_text_without_code_is_evaluated_as_before(text: str) -> None:
    scope: dict[str, Value] = {"x": 1}
    expression = compile_expression.__wrapped__(text)

    first = expression.evaluate(scope)

    assert first.failures == often(text, scope).evaluate(scope, NO_PORTS).failures == ()
