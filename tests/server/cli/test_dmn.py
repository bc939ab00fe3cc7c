import json
from pathlib import Path

import pytest

from tests.server.cli.conftest import Gnomon
from tests.server.dmn.models import decision, definitions, input_data, literal, table


@pytest.fixture
def model(tmp_path: Path) -> str:
    file = tmp_path / "discount.dmn"
    file.write_bytes(
        definitions(
            input_data("size"),
            decision(
                "discount", table(["size"], ["rate"], ("< 10", "0.1"), (">= 10", "0.2")), inputs=["size"]
            ),
            decision("price", literal("100 * (1 - discount)"), requires=["discount"]),
            decision("broken", literal('assert(1, false, "never")')),
        )
    )
    return str(file)


@pytest.fixture
def variables(tmp_path: Path) -> str:
    file = tmp_path / "variables.json"
    file.write_text('{"size": 12}')
    return str(file)


def test_it_shows_the_result_and_the_rules_that_matched(
    gnomon_alone: Gnomon, model: str, variables: str
) -> None:
    ended = gnomon_alone("dmn", model, "price", "--input", variables)

    assert (ended.exit_code, ended.errors) == (0, "")
    assert "2 rule2" in ended.output
    assert ended.output.rstrip().endswith("= 80.0")


def test_it_prints_json_for_programs(gnomon_alone: Gnomon, model: str, variables: str) -> None:
    ended = gnomon_alone("dmn", model, "discount", "--input", variables, "--json")

    assert ended.json["output"] == 0.2
    assert [rule["ruleIndex"] for rule in ended.json["evaluatedDecisions"][0]["matchedRules"]] == [2]


def test_a_decision_that_fails_is_exit_code_1(gnomon_alone: Gnomon, model: str) -> None:
    ended = gnomon_alone("dmn", model, "broken", "--json")

    assert ended.exit_code == 1
    assert json.loads(ended.output)["failedDecisionId"] == "broken"
    assert "never" in json.loads(ended.output)["failureMessage"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(("{model}", "gone"), "no decision gone", id="unknown decision"),
        pytest.param(("{model}.gone", "price"), "cannot read", id="no file"),
        pytest.param(("{model}", "price", "--input", "{model}"), "error:", id="variables that are no JSON"),
        pytest.param(("{variables}", "price"), "expected well-formed XML", id="a file that is no DMN"),
    ],
)
def test_what_cannot_be_begun_is_exit_code_2(
    gnomon_alone: Gnomon, model: str, variables: str, arguments: tuple[str, ...], message: str
) -> None:
    ended = gnomon_alone("dmn", *(each.format(model=model, variables=variables) for each in arguments))

    assert ended.exit_code == 2
    assert message in ended.errors
