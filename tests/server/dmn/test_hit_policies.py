from decimal import Decimal

import pytest

from server.feel import Value
from tests.server.dmn.models import compiled, decision, evaluated, item_definition, table

ROWS = [("< 10", '"low"'), ("< 20", '"mid"'), ("< 30", '"high"'), ("> 90", '"mid"'), ("> 95", '"mid"')]
NUMBERS = [("< 10", "3"), ("< 20", "1"), ("< 30", "2.5")]


@pytest.mark.parametrize(
    ("hit_policy", "size", "expected"),
    [
        pytest.param("UNIQUE", 25, "high", id="unique"),
        pytest.param("UNIQUE", 50, None, id="unique without a match"),
        pytest.param("ANY", 99, "mid", id="any, all alike"),
        pytest.param("FIRST", 5, "low", id="first"),
        pytest.param("PRIORITY", 5, "high", id="priority"),
        pytest.param("PRIORITY", 15, "high", id="priority of two"),
        pytest.param("RULE ORDER", 5, ["low", "mid", "high"], id="rule order"),
        pytest.param("OUTPUT ORDER", 5, ["high", "mid", "low"], id="output order"),
        pytest.param("COLLECT", 15, ["mid", "high"], id="collect"),
        pytest.param("COLLECT", 50, None, id="collect without a match"),
    ],
)
def test_the_hit_policy_decides_what_matching_rules_give(hit_policy: str, size: int, expected: Value) -> None:
    logic = table(["size"], ["class"], *ROWS, hit_policy=hit_policy, output_values=['"high", "mid", "low"'])

    assert expected == evaluated(logic, size=size).value


@pytest.mark.parametrize(
    ("aggregation", "size", "expected"),
    [
        pytest.param("SUM", 5, Decimal("6.5"), id="sum"),
        pytest.param("MIN", 5, 1, id="min"),
        pytest.param("MAX", 5, 3, id="max"),
        pytest.param("COUNT", 5, 3, id="count"),
        pytest.param("SUM", 15, Decimal("3.5"), id="sum of two"),
        pytest.param("SUM", 99, None, id="sum of none"),
    ],
)
def test_a_collecting_table_aggregates(aggregation: str, size: int, expected: Value) -> None:
    logic = table(["size"], ["points"], *NUMBERS, hit_policy="COLLECT", aggregation=aggregation)

    assert expected == evaluated(logic, size=size).value


@pytest.mark.parametrize(
    ("hit_policy", "message"),
    [
        pytest.param("UNIQUE", "multiple values aren't allowed for UNIQUE hit policy", id="unique"),
        pytest.param("ANY", "different values aren't allowed for ANY hit policy", id="any"),
    ],
)
def test_a_violated_hit_policy_is_null_in_the_standard_and_a_failure_in_camunda(
    hit_policy: str, message: str
) -> None:
    logic = table(["size"], ["class"], *ROWS, hit_policy=hit_policy)

    standard, camunda = evaluated(logic, size=5), evaluated(logic, "camunda", size=5)

    assert standard.value is None
    assert standard.failure is None
    assert message in standard.failures[0].message
    assert camunda.failure is not None
    assert camunda.failure.decision_id == "result"
    assert message in camunda.failure.message
    assert [rule.index for rule in camunda.evaluated[0].matched_rules] == [1, 2, 3]


def test_several_outputs_make_a_context() -> None:
    logic = table(
        ["size"], ["class", "price"], ("< 10", '"low"', "5"), ("-", '"high"', "9"), hit_policy="FIRST"
    )

    assert evaluated(logic, size=5).value == {"class": "low", "price": 5}


def test_priority_compares_the_outputs_from_left_to_right() -> None:
    logic = table(
        ["size"],
        ["class", "price"],
        ("-", '"b"', "1"),
        ("-", '"a"', "2"),
        ("-", '"a"', "1"),
        hit_policy="PRIORITY",
        output_values=['"a", "b"', "1, 2"],
    )

    assert evaluated(logic, size=0).value == {"class": "a", "price": 1}


def test_the_tenth_output_value_comes_after_the_second() -> None:
    values = ", ".join(map(str, range(1, 13)))
    logic = table(
        ["x"],
        ["n"],
        *(("-", str(n)) for n in (10, 2, 12, 1)),
        hit_policy="OUTPUT ORDER",
        output_values=[values],
    )

    assert evaluated(logic, x=0).value == [1, 2, 10, 12]


def test_without_a_match_the_default_outputs_are_given() -> None:
    logic = table(["size"], ["class", "price"], ("< 10", '"low"', "5"), default=['"none"', "1 + 1"])

    assert evaluated(logic, size=50).value == {"class": "none", "price": 2}


def test_an_input_that_its_values_do_not_allow_is_an_error_in_the_standard_only() -> None:
    logic = table(["size"], ["class"], ("-", '"any"'), input_values=["[0..10]"])

    assert evaluated(logic, size=5).value == "any"
    assert evaluated(logic, size=11).value is None
    assert evaluated(logic, "camunda", size=11).value == "any"


def test_the_rules_that_match_are_told_with_their_outputs() -> None:
    logic = table(["size"], ["class"], *ROWS, hit_policy="COLLECT")

    [decided] = evaluated(logic, size=15).evaluated

    assert [(each.id, each.name, each.value) for each in decided.inputs] == [("input0", "size", 15)]
    assert [(rule.id, rule.index, rule.outputs[0].value) for rule in decided.matched_rules] == [
        ("rule2", 2, "mid"),
        ("rule3", 3, "high"),
    ]


def test_rules_after_the_first_match_are_not_told_by_a_first_hit_table() -> None:
    [decided] = evaluated(table(["size"], ["class"], *ROWS, hit_policy="FIRST"), size=5).evaluated

    assert [rule.index for rule in decided.matched_rules] == [1]


def test_a_table_without_rules_gives_its_default() -> None:
    assert evaluated(table(["size"], ["class"], default=['"none"']), size=1).value == "none"


def test_a_table_without_inputs_matches_always() -> None:
    assert evaluated(table([], ["class"], ('"any"',))).value == "any"


def test_the_allowed_values_of_an_output_type_are_its_order_of_priority() -> None:
    rows = (("-", '"low"'), ("-", '"high"'))
    logic = table(["1"], ["class"], *rows, hit_policy="OUTPUT ORDER").replace(
        "<output ", '<output typeRef="alias" '
    )
    model = compiled(
        item_definition("class", type_ref="string", allowed='"high", "low"'),
        item_definition("alias", type_ref="class"),
        decision("d", logic),
    )

    assert model.evaluate("d", {}).value == ["high", "low"]


def test_values_that_cannot_be_ordered_are_a_problem() -> None:
    logic = table(["1"], ["class"], ("-", "1"), hit_policy="PRIORITY", output_values=["1 +"])

    assert "order of priority" in compiled(decision("d", logic)).problems[0].message


def test_values_that_cannot_be_added_are_null_in_the_standard_and_a_failure_in_camunda() -> None:
    logic = table(["1"], ["n"], ("-", '"a"'), ("-", "1"), hit_policy="COLLECT", aggregation="SUM")

    assert evaluated(logic).value is None
    assert evaluated(logic).failure is None
    assert evaluated(logic, "camunda").failure is not None
