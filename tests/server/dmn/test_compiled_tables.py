"""A compiled table decides as its cells do one by one, whatever its rules say and however often it was evaluated."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.dmn import DecisionEvaluation, Decisions
from server.dmn.session import MAX_EXPRESSIONS
from server.dmn.tables.matcher import CODE_A_TIME, CODE_AFTER
from server.dmn.tables.plain_cells import plain_spans
from server.feel import Budget, Date, DialectName, EvaluationError, Ports, Value, compile_unary_tests
from tests.server.dmn.models import compiled, decision, input_data, knowledge_model, literal, table

POLICIES = st.sampled_from([
    "UNIQUE", "ANY", "FIRST", "PRIORITY", "COLLECT", "RULE ORDER", "OUTPUT ORDER"
])  # fmt: skip
SCALARS = ["?", "x", "y", "limit", "1", "-2", "2.5", '"a"', '"ab"', "null", "order.total", "string length(x)"]
OPERANDS = st.sampled_from(SCALARS)
SUMS = st.one_of(OPERANDS, st.builds("{} {} {}".format, OPERANDS, st.sampled_from("+-*/"), OPERANDS))
COMPARED = st.builds("{} {} {}".format, SUMS, st.sampled_from(["=", "!=", "<", ">=", ">"]), SUMS)
CONDITIONS = st.one_of(
    COMPARED,
    st.builds("{} in [1..{}]".format, SUMS, st.sampled_from("13")),
    st.builds("{} between {} and {}".format, OPERANDS, OPERANDS, OPERANDS),
    st.sampled_from([
        'contains(?, "a")', "starts with(x, ?)", "? instance of number", "upper case(?) = y", "[1, 2]", "nothing > 1",
        "assert(?, ? != 2)", "some z in [1, 2] satisfies z = ?", 'matches(?, "a.*")', '? > date("2024-01-01")',
        "cellInput > 1", "abs(?) > 1", "count([1]) = ?", "? and x", "substring(?, 5)", 'contains(?, y + "b")',
    ]),
)  # fmt: skip
FREE = st.one_of(
    CONDITIONS,
    st.builds("{} {} {}".format, CONDITIONS, st.sampled_from(["and", "or"]), CONDITIONS),
    st.builds("if {} then {} else {}".format, CONDITIONS, CONDITIONS, CONDITIONS),
    st.builds(
        "not({})".format, st.lists(st.one_of(CONDITIONS, OPERANDS), min_size=1, max_size=2).map(", ".join)
    ),
    st.lists(st.one_of(SUMS, st.just("true")), min_size=1, max_size=3).map(", ".join),
    st.builds("{} {}".format, st.sampled_from(["<", ">=", "="]), SUMS),
)
CELLS = st.one_of(FREE, st.sampled_from(["-", "1", "< 3", "[0..2]", '"a"', "true", "null", "2, > 5"]))
VALUES: st.SearchStrategy[Value] = st.sampled_from([
    None, True, False, -2, 0, 1, 2, 3, Decimal("2.5"), 10**33, "", "a", "ab", Date(2024, 2, 29), [1], ["a", 2], [],
    {"a": 1, "total": 2},
])  # fmt: skip
DIALECT_NAMES: st.SearchStrategy[DialectName] = st.sampled_from(["camunda", "standard"])
NAMES = ["x", "y"]
OFTEN = CODE_AFTER + 2


def model(rules: Sequence[Sequence[str]], policy: str, dialect: DialectName) -> Decisions:
    logic = table(NAMES, ["n"], *rules, hit_policy=policy, output_values=['"c", "b", "a"'])
    names = [*NAMES, "limit", "order"]
    parts = [*map(input_data, names), decision("result", logic, inputs=names)]
    return compiled(*parts, dialect=dialect)


def with_output(cells: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    return [(*row, f'"{"abc"[number % 3]}"') for number, row in enumerate(cells)]


def interpreted(
    cells: Sequence[Sequence[str]], scope: dict[str, Value], policy: str, dialect: DialectName
) -> Sequence[list[int] | str]:
    """The rules that match, asked cell by cell, constants first; the messages where cells have no result."""
    found: list[int] = []
    messages: list[str] = []
    for number, row in enumerate(cells, 1):
        asked = sorted(zip(row, NAMES, strict=True), key=lambda pair: plain_spans(pair[0]) is None)
        try:
            if all(
                compile_unary_tests(text, dialect=dialect).evaluate(scope[name], scope).value is True
                for text, name in asked
            ):
                found.append(number)
        except EvaluationError as error:
            messages.append(str(error))
        if policy == "FIRST" and (found or messages):
            break
    return messages or [found]


def outcome_of(evaluation: DecisionEvaluation) -> list[int] | str:
    """A policy that is violated is a failure of a table that found its rules."""
    if evaluation.failure is not None and "hit policy" not in evaluation.failure.message:
        return evaluation.failure.message
    return matched(evaluation)


def matched(evaluation: DecisionEvaluation) -> list[int]:
    return [rule.index for rule in evaluation.evaluated[-1].matched_rules]


@given(
    st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=8),
    st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=4),
    POLICIES,
    DIALECT_NAMES,
)
def test_a_compiled_table_matches_the_rules_that_its_cells_accept(
    cells: list[tuple[str, str]], inputs: list[tuple[Value, Value]], policy: str, dialect: DialectName
) -> None:
    decisions = model(with_output(cells), policy, dialect)
    scopes: list[dict[str, Value]] = [{"x": x, "y": y, "limit": 2, "order": {"total": 3}} for x, y in inputs]

    rounds = [[decisions.evaluate("result", scope) for scope in scopes] for _ in range(OFTEN)]

    assert all(evaluations == rounds[0] for evaluations in rounds)
    for evaluation, scope in zip(rounds[-1], scopes, strict=True):
        assert outcome_of(evaluation) in interpreted(cells, scope, policy, dialect)


@given(FREE, VALUES, VALUES, DIALECT_NAMES)
def test_code_takes_the_steps_of_its_text_or_none(
    text: str, x: Value, y: Value, dialect: DialectName
) -> None:
    scope: Mapping[str, Value] = {"x": x, "y": y, "limit": 2, "order": {"total": 3}}
    tests = compile_unary_tests(text, dialect=dialect)
    code, taken, expected = tests.code(), Budget(1_000), Budget(1_000)

    result = None if code is None else code(scope.get, x, taken)

    if result is None:
        assert taken.left == 1_000
    else:
        assert result is tests.evaluate(x, dict(scope), ports=Ports(budget=expected)).value
        assert taken.left == expected.left


@pytest.mark.parametrize("left", range(4))
def test_code_gives_up_before_the_budget_does(left: int) -> None:
    code, budget = compile_unary_tests('contains(?, "a") and ends with(?, "b")').code(), Budget(left)
    scope: Mapping[str, Value] = {}
    assert code is not None

    result = code(scope.get, "ab", budget)

    assert (result, budget.left) == ((True, left - 2) if left >= 2 else (None, left))


@pytest.mark.parametrize("count", [CODE_A_TIME, CODE_A_TIME + 1])
def test_a_table_gets_code_for_some_cells_at_a_time(count: int) -> None:
    decisions = model([(f"? + 1 > {number}", "-", '"a"') for number in range(count)], "COLLECT", "standard")

    results = [decisions.evaluate("result", {"x": 50, "y": 1}) for _ in range(CODE_AFTER + 3)]

    assert [matched(result) for result in results] == [[*range(1, 52)]] * len(results)


@pytest.mark.parametrize(("rounds", "fails"), [(90, False), (100, True)])
def test_expressions_are_counted_with_code_as_without(rounds: int, *, fails: bool) -> None:
    rules = MAX_EXPRESSIONS // 99
    body = table(["x"], ["n"], *[("? + 1 > 1000", "1")] * rules, hit_policy="COLLECT")
    decisions = compiled(
        knowledge_model("f", ["x"], body),
        decision("result", literal(f"for i in 1..{rounds} return f(i)"), knowledge=["f"]),
    )

    failures = [decisions.evaluate("result", {}).failure for _ in range(2)]

    assert [failure is not None for failure in failures] == [fails, fails]
