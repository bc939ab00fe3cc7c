"""What feel-scala expects in its own tests, for the families built so far."""

import re
from decimal import Decimal
from pathlib import Path

import pytest

from server.feel import Evaluation, FeelError, FeelSyntaxError, Value, compile_expression, compile_unary_tests
from server.feel.json_text import read
from server.feel.values import Context, is_number

CASES = Path(__file__).parents[4] / "shared/data/feel/cases.jsonl"

pytestmark = pytest.mark.skipif(not CASES.exists(), reason="../shared/data/feel/cases.jsonl is not here")

EXCLUDED_FILES = {
    "temporal": re.compile(r"InterpreterDateTime|DateTimeDurationProperties|BuiltinTemporal"),
    "range functions": re.compile(r"BuiltinRangeFunction"),
}
EXCLUDED_TEXTS = {
    "temporal": re.compile(
        r'@\\?"|\b(date|time|duration) ?\(|"\$(date|time|dateTime|dt|ym)"|instance of (date|time|years|days)'
    ),
    "randomness": re.compile(r"\b(uuid|random number)\("),
}


def group_of(line: str) -> str:
    """The excluded group that a record belongs to, or `built`."""
    file = read(line)["file"]
    for group, pattern in EXCLUDED_FILES.items():
        if pattern.search(file):
            return group
    return next((group for group, pattern in EXCLUDED_TEXTS.items() if pattern.search(line)), "built")


def built_cases() -> list[Context]:
    lines = CASES.read_text(encoding="utf-8").splitlines() if CASES.exists() else []
    return [read(line) for line in lines if group_of(line) == "built"]


def case_id(case: Context) -> str:
    return f"{case['file']}:{case['line']}-{case['expr']}"


def cases(*, that_fail: bool) -> pytest.MarkDecorator:
    chosen = [case for case in built_cases() if (case["expect"] == "fail") is that_fail]
    return pytest.mark.parametrize("case", chosen, ids=case_id)


def evaluated(case: Context) -> Evaluation:
    if case["kind"] == "unary":
        return compile_unary_tests(case["expr"]).evaluate(case.get("input"), case["vars"])
    return compile_expression(case["expr"]).evaluate(case["vars"])


def is_same(actual: Value, expected: Value) -> bool:
    """Numbers with the precision of floats, since that is what some expectations were written with."""
    if isinstance(actual, list) and isinstance(expected, list):
        return len(actual) == len(expected) and all(map(is_same, actual, expected))
    if isinstance(actual, dict) and isinstance(expected, dict):
        return actual.keys() == expected.keys() and all(is_same(actual[key], expected[key]) for key in actual)
    if is_number(actual) and is_number(expected):
        return abs(actual - expected) <= abs(expected) * Decimal("1e-14")
    return type(actual) is type(expected) and actual == expected


@cases(that_fail=False)
def test_an_expression_evaluates_as_in_feel_scala(case: Context) -> None:
    result = evaluated(case)

    assert is_same(result.value, case["value"]), result
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
