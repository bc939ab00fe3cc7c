"""The expectations of feel-scala's own tests."""

import tomllib
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from server.feel import (
    Evaluation,
    FeelError,
    FeelSyntaxError,
    Ports,
    Value,
    compile_expression,
    compile_unary_tests,
)
from server.feel.expressions import QUICK_AFTER
from server.feel.temporal import parser
from server.feel.temporal.comparison import instant_of_second
from server.feel.values import Context, is_number, is_temporal
from tests.server.feel.cases import CASES, all_cases, lifted

EXCEPTIONS = tomllib.loads((Path(__file__).parent / "feel_scala_exceptions.toml").read_text(encoding="utf-8"))
PORTS = Ports(now=datetime(2026, 1, 1, tzinfo=UTC), bits=lambda count: 1 << count - 1)

pytestmark = pytest.mark.skipif(not CASES.exists(), reason="../shared/data/feel/cases.jsonl is not here")


def case_id(case: Context) -> str:
    return f"{case['file']}:{case['line']} {case['expr']}"


def cases(*, that_fail: bool) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "case",
        [
            pytest.param(case, id=case_id(case), marks=expected_failure(case_id(case)))
            for case in all_cases()
            if (case["expect"] == "fail") is that_fail
        ],
    )


def expected_failure(case: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.xfail(strict=True, reason=EXCEPTIONS[case])] if case in EXCEPTIONS else []


def evaluated(case: Context, *, earlier: int = 0) -> Evaluation:
    """Evaluate a text that has been evaluated some times before."""
    variables = lifted(case["vars"])
    if case["kind"] == "unary":
        return compile_unary_tests(case["expr"]).evaluate(lifted(case.get("input")), variables, ports=PORTS)
    expression = compile_expression.__wrapped__(case["expr"])
    for _ in range(earlier):
        expression.evaluate(variables, PORTS)
    return expression.evaluate(variables, PORTS)


def is_same(actual: Value, expected: Value) -> bool:
    """Numbers with the precision of floats, since that is what some expectations were written with.

    Likewise temporal values may have been written as plain text, or with the offset that their zone has.
    """
    if isinstance(actual, list) and isinstance(expected, list):
        return len(actual) == len(expected) and all(map(is_same, actual, expected))
    if isinstance(actual, dict) and isinstance(expected, dict):
        return actual.keys() == expected.keys() and all(is_same(actual[key], expected[key]) for key in actual)
    if is_number(actual) and is_number(expected):
        return abs(actual - expected) <= abs(expected) * Decimal("1e-14")
    if is_temporal(actual):
        wanted = parser.literal(expected) if isinstance(expected, str) else expected
        return instant_of_second(actual) == instant_of_second(wanted)
    return type(actual) is type(expected) and actual == expected


@pytest.mark.parametrize(
    "earlier", [pytest.param(0, id="closures"), pytest.param(QUICK_AFTER, id="generated code")]
)
@cases(that_fail=False)
def test_an_expression_evaluates_as_in_feel_scala(case: Context, earlier: int) -> None:
    result = evaluated(case, earlier=earlier)

    assert is_same(result.value, lifted(case["value"])), result
    assert {*map(tuple, case.get("failures", []))} <= {
        (each.type.value, each.message) for each in result.failures
    }


@cases(that_fail=True)
def test_an_expression_fails_as_in_feel_scala(case: Context) -> None:
    with pytest.raises(FeelError) as failed:
        evaluated(case)

    if case["message"] == "failed to parse":
        assert isinstance(failed.value, FeelSyntaxError)
    else:
        assert case["message"] in str(failed.value)


def test_every_exception_is_about_a_case() -> None:
    assert EXCEPTIONS.keys() <= {*map(case_id, all_cases())}
