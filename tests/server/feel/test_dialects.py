"""docs/feel.md, read as a test."""

import re
from dataclasses import fields
from decimal import Decimal

import pytest

from server.feel import (
    DialectName,
    EvaluationError,
    FeelSyntaxError,
    Value,
    compile_expression,
    compile_unary_tests,
    limits,
)
from server.feel.dialects import CAMUNDA, Dialect
from tests.server.feel.page import rows, section


def outcome(text: str, dialect: DialectName) -> Value:
    try:
        return compile_expression(text, dialect=dialect).evaluate({}).value
    except FeelSyntaxError:
        return "no text"
    except EvaluationError:
        return "no result"


def outcome_of_test(text: str, dialect: DialectName) -> Value:
    input_value, tests = re.findall(r"`([^`]*)`", text)
    return compile_unary_tests(tests, dialect=dialect).evaluate(outcome(input_value, dialect), {}).value


def stated(cell: str) -> Value:
    return outcome(cell.strip("`"), "standard") if cell.startswith("`") else cell


EXPRESSIONS = [row for row in rows("Dialects") if " and " not in re.sub(r"`[^`]*`", "", row[0])]
TESTS = [row for row in rows("Dialects") if re.fullmatch(r"`[^`]*` and `[^`]*`", row[0])]


@pytest.mark.parametrize(("text", "camunda", "standard", "_field"), TESTS)
def test_the_dialects_differ_in_unary_tests_as_the_page_says(
    text: str, camunda: str, standard: str, _field: str
) -> None:
    assert stated(camunda) == outcome_of_test(text, "camunda")
    assert stated(standard) == outcome_of_test(text, "standard")
    assert camunda != standard


@pytest.mark.parametrize(("text", "camunda", "standard", "_field"), EXPRESSIONS)
def test_the_dialects_differ_as_the_page_says(text: str, camunda: str, standard: str, _field: str) -> None:
    expression = text.strip("`")

    assert repr(stated(camunda)) == repr(outcome(expression, "camunda"))
    assert repr(stated(standard)) == repr(outcome(expression, "standard"))
    assert camunda != standard


def test_the_page_has_an_example_of_every_difference() -> None:
    differences = {field.name for field in fields(Dialect)} - {"name"} | {"arithmetic"}

    assert differences == {row[-1] for row in rows("Dialects")}


@pytest.mark.parametrize("dialect", ["camunda", "standard"])
def test_the_page_names_what_is_meant_by_operators_of_other_languages(dialect: DialectName) -> None:
    named = re.findall(r"`(\S+)` is `(\S+)`", section("Comparisons"))

    assert len(named) == 9
    for written, meant in named:
        with pytest.raises(FeelSyntaxError, match=re.escape(f"expected '{meant}' but found '{written}'")):
            compile_expression(f"a {written} b", dialect=dialect)


@pytest.mark.parametrize(("example", "ours", "theirs", "rule"), rows("Beside feel-scala"))
def test_the_camunda_dialect_answers_as_the_page_says_beside_feel_scala(
    example: str, ours: str, theirs: str, rule: str
) -> None:
    if example.count("`") > 2:
        found = outcome_of_test(example, "camunda")
    else:
        found = outcome(example.strip("`"), "camunda")

    assert repr(found) == repr(stated(ours))
    assert theirs not in {ours, ""}
    assert rule


def test_the_page_knows_the_limits() -> None:
    for name, number, _ in rows("Limits"):
        assert Decimal(number.replace(",", "")) == Decimal(str(getattr(limits, name.strip("`"))))


def test_camunda_is_spoken_if_nothing_is_said() -> None:
    assert compile_expression("1") is not compile_expression("1", dialect="standard")
    assert CAMUNDA.name == "camunda"
    assert outcome("100[1]", "camunda") is compile_expression("100[1]").evaluate({}).value
