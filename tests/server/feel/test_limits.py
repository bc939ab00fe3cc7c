import itertools
from decimal import Decimal

import pytest

from server.feel import (
    Budget,
    EvaluationError,
    FeelSyntaxError,
    Ports,
    Value,
    compile_expression,
    compile_unary_tests,
)
from server.feel.errors import LimitExceededError
from server.feel.limits import (
    MAX_FAILURES,
    MAX_MATCHED_LENGTH,
    MAX_NESTING,
    MAX_STRING_LENGTH,
    STEPS_PER_SECOND,
)

MANY = 10_000


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("(" * 100_000, id="parentheses"),
        pytest.param("[" * MANY, id="lists"),
        pytest.param("{a:" * MANY, id="contexts"),
        pytest.param("-" * MANY + "1", id="signs"),
        pytest.param("f(" * MANY, id="calls"),
        pytest.param("a[" * MANY, id="filters"),
        pytest.param("]" * MANY, id="ranges"),
        pytest.param("if " * MANY, id="conditions"),
        pytest.param("function() " * MANY, id="functions"),
        pytest.param("for x in " * MANY, id="loops"),
        pytest.param("1 in (" * MANY, id="tests"),
        pytest.param("not(" * MANY, id="negations"),
        pytest.param("a" + ".b" * MANY, id="path"),
        pytest.param("a" + "[1]" * MANY, id="indexes"),
        pytest.param("2" + "**2" * MANY + "(", id="unfinished powers"),
        pytest.param("1" * 2_000_000, id="length"),
        pytest.param("1 instance of " + "list<" * MANY, id="types"),
        pytest.param("function(a: " + "context<a:" * MANY, id="typed parameters"),
    ],
)
def test_a_text_without_measure_is_refused(text: str) -> None:
    for compile_text in (compile_expression.__wrapped__, compile_unary_tests.__wrapped__):
        with pytest.raises(FeelSyntaxError):
            compile_text(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("(" * (MAX_NESTING - 1) + "1" + ")" * (MAX_NESTING - 1), 1, id="parentheses"),
        pytest.param("1" + " + 1" * 999, 1000, id="sum"),
        pytest.param("false" + " or false" * 999 + " or true", True, id="disjunction"),
        pytest.param("if false then 0 else " * 999 + "1", 1, id="else if"),
        pytest.param("count([" + "1," * 9_999 + "1])", 10_000, id="list"),
        pytest.param("count([1]" + "[true]" * 90 + ")", 1, id="filters"),
        pytest.param("abs(" * 90 + "-1" + ")" * 90, 1, id="calls"),
    ],
)
def test_a_long_or_deep_text_within_measure_is_evaluated(text: str, expected: Value) -> None:
    assert expected == compile_expression(text).evaluate({}).value


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("for x in 1..100000000 return x", id="range"),
        pytest.param("for a in 1..3000, b in 1..3000 return 1", id="loops inside each other"),
        pytest.param("some a in 1..3000, b in 1..3000 satisfies a + b = 0", id="quantifiers"),
        pytest.param("{f: function(g) g(g), x: f(f)}.x", id="endless recursion"),
        pytest.param(
            "{f: function(g, n) if n = 0 then 0 else g(g, n - 1) + 1, x: f(f, 1000)}.x", id="deep recursion"
        ),
        pytest.param(
            "{f: function(g, n) if n = 0 then 0 else g(g, n - 1) + g(g, n - 1), x: f(f, 30)}.x",
            id="wide recursion",
        ),
        pytest.param(
            '{s: for i in 1..100 return if i = 1 then "aaaaaaaa" else partial[-1] + partial[-1]}',
            id="doubling string",
        ),
        pytest.param("for i in 1..1000 return if i = 1 then [] else [partial[-1]]", id="depth of the result"),
        pytest.param(
            "string(for i in 1..1000 return if i = 1 then [] else [partial[-1]])", id="depth of a value"
        ),
        pytest.param(
            "for i in 1..40 return if i = 1 then [1] else [partial[-1], partial[-1]]",
            id="shared items of the result",
        ),
        pytest.param(
            "string(for i in 1..40 return if i = 1 then [1] else [partial[-1], partial[-1]])",
            id="shared items of a value",
        ),
        pytest.param("for x in 1..100000 return index of(xs, x)[1]", id="builtin in a loop"),
        pytest.param("for x in xs return xs = xs", id="comparison in a loop"),
        pytest.param('for d in @"-999999999-01-01"..@"999999999-12-31" return d', id="days"),
        pytest.param('for d in [@"2000-01-01"..@"7000-01-01"] return d', id="days of a range"),
        pytest.param("for x in [1..100000000] return x", id="range that is a value"),
        pytest.param("{f: function(g: function) g(g), x: f(f)}.x", id="endless recursion with types"),
        pytest.param("xs[xs[xs[item > 0][1] > 0][1] > 0]", id="filters inside each other"),
    ],
)
def test_an_evaluation_without_measure_ends_with_an_error(text: str) -> None:
    with pytest.raises(LimitExceededError):
        compile_expression(text).evaluate({"xs": [*range(10_000)]})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("2 ** 999999999999", None, id="power"),
        pytest.param("9.99 ** 9999999 ** 9999999", None, id="power of a power"),
        pytest.param("decimal(1, 999999999999)", None, id="scale"),
        pytest.param("[1][1 * 10 ** 6000]", None, id="index"),
        pytest.param('number("1e999999999")', None, id="exponent"),
        pytest.param("huge + 1", None, id="exponent of a variable"),
    ],
)
def test_a_huge_number_is_refused_before_it_is_written_out(text: str, expected: Value) -> None:
    evaluation = compile_expression(text).evaluate({"huge": Decimal("1E+999999999")})

    assert evaluation.value == expected


def test_very_many_names_take_no_longer_than_their_text() -> None:
    entries = ", ".join(f"a b{number}: 1" for number in range(10_000))

    value = compile_expression(f"{{{entries}, z: a b9999 + a b0}}.z", dialect="standard").evaluate({}).value

    assert value == 2


def test_a_huge_start_is_refused_before_it_is_counted() -> None:
    with pytest.raises(EvaluationError):
        compile_expression('substring("a", 10 ** 6000)').evaluate({})


def test_a_huge_length_is_cut_before_it_is_counted() -> None:
    assert compile_expression('substring("a", 1, 10 ** 6000)').evaluate({}).value == "a"


def test_only_the_first_failures_are_kept() -> None:
    evaluation = compile_expression("for x in 1..1000 return x + null").evaluate({})

    assert (len(evaluation.value), len(evaluation.failures)) == (1000, MAX_FAILURES)


@pytest.mark.parametrize(
    "text",
    ['matches(text, "{}")', 'replace(text, "{}", "b")', 'split(text, "{}")', 'extract(text, "{}")'],
)
def test_a_pattern_that_backtracks_for_ever_ends_the_evaluation(text: str) -> None:
    """One is given up after 0.1 s, so the others of a list are not tried."""
    once = text.replace("{}", "(a|a)*$")
    expression = compile_expression(f"count(for i in 1..1000000 return {once})")

    with pytest.raises(LimitExceededError, match="to match"):
        expression.evaluate({"text": "a" * 40 + "b"})


@pytest.mark.parametrize("replacement", ["$0" * 1000, "b" * 1000])
def test_a_replacement_makes_no_string_that_is_too_long(replacement: str) -> None:
    expression = compile_expression('replace(text, "a{1000}", replacement)')

    with pytest.raises(LimitExceededError, match=f"a string of more than {MAX_STRING_LENGTH} characters"):
        expression.evaluate({"text": "a" * MAX_MATCHED_LENGTH, "replacement": replacement * 100})


def test_a_pattern_is_charged_by_the_time_that_it_takes() -> None:
    seconds = itertools.count(0, 0.01)
    ports = Ports(budget=Budget(STEPS_PER_SECOND // 10), stopwatch=lambda: next(seconds))
    expression = compile_expression('count(for i in 1..100 return matches("a", "a"))')

    with pytest.raises(LimitExceededError):
        expression.evaluate({}, ports)

    assert next(seconds) < 0.3


def test_an_evaluation_ends_when_its_budget_is_spent() -> None:
    expression = compile_expression("count(for x in 1..1000 return x * x)")

    assert expression.evaluate({}, Ports(budget=Budget(10_000))).value == 1000
    with pytest.raises(LimitExceededError):
        expression.evaluate({}, Ports(budget=Budget(1_000)))


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("long", id="string"),
        pytest.param("[long]", id="string of a list"),
        pytest.param("{a: long}", id="string of a context"),
        pytest.param("named", id="long name"),
        pytest.param("whole", id="whole number of many digits"),
        pytest.param("fraction", id="fraction of many digits"),
    ],
)
@pytest.mark.parametrize("result", ["{}", "string({})", "to json({})", "{{a: {}}}"])
def test_what_stands_in_many_places_is_charged_at_each(value: str, result: str) -> None:
    variables: dict[str, Value] = {
        "long": "x" * MANY,
        "named": {"x" * MANY: 1},
        "whole": 10**900,
        "fraction": Decimal("0." + "1" * 900),
    }
    text = result.format(f"for v in [{value}], i in 1..4000 return v")

    with pytest.raises(LimitExceededError):
        compile_expression(text).evaluate(variables, Ports(budget=Budget(50_000)))


def test_a_long_string_costs_less_than_a_step_for_each_character() -> None:
    variables: dict[str, Value] = {"document": "x" * 4_000_000}

    for text in ("document", "{content: document}", "[document]"):
        assert compile_expression(text).evaluate(variables, Ports(budget=Budget(100_000))).value


def test_evaluations_share_a_budget() -> None:
    expression, budget = compile_expression("sum(for x in 1..100 return x)"), Budget(300)

    expression.evaluate({}, Ports(budget=budget))

    assert 0 < budget.left < 200
    with pytest.raises(LimitExceededError):
        expression.evaluate({}, Ports(budget=budget))
