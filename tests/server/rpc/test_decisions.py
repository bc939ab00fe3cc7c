"""Decisions and expressions over every channel, in every mode."""

import json
from typing import Any

import pytest

from server.platform.errors import InvalidArgument, NotFound, PermissionDenied
from tests.server.engine.graphs import DISCOUNT, answering, graph_xml
from tests.server.rpc.caller import Caller
from tests.server.rpc.engines import Time

ASKED = b'{"customer": "regular", "amount": 120}'


async def deploy(caller: Caller, *parts: str, id_: str = "pricing") -> list[Any]:
    resource = {"name": f"{id_}.dmn", "content": graph_xml(*parts, id_=id_)}
    response = await caller("CreateDeployment", resources=[resource])
    return list(response.deployments)


async def test_a_deployment_tells_of_the_graph_and_its_decisions(caller: Caller) -> None:
    graph, level, discount = await deploy(caller, *DISCOUNT)

    assert graph.decision_requirements.decision_requirements_id == "pricing"
    assert graph.decision_requirements.resource_name == "pricing.dmn"
    found = [level.decision_definition, discount.decision_definition]
    assert [(each.decision_definition_id, each.version) for each in found] == [("level", 1), ("discount", 1)]
    key = graph.decision_requirements.decision_requirements_key
    assert {each.decision_requirements_key for each in found} == {key}


async def test_what_was_deployed_can_be_read(caller: Caller) -> None:
    graph, level, _ = await deploy(caller, *DISCOUNT)
    graph_key = graph.decision_requirements.decision_requirements_key
    key = level.decision_definition.decision_definition_key

    requirements = await caller("GetDecisionRequirements", decision_requirements_key=graph_key)
    definition = await caller("GetDecisionDefinition", decision_definition_key=key)
    documents = [
        await caller("GetDecisionRequirementsXml", decision_requirements_key=graph_key),
        await caller("GetDecisionDefinitionXml", decision_definition_key=key),
    ]

    assert requirements.decision_requirements.decision_requirements_name == "pricing"
    assert definition.decision_definition.name == "level"
    assert definition.decision_definition.decision_requirements_version == 1
    assert [each.xml.encode() for each in documents] == [graph_xml(*DISCOUNT)] * 2


async def test_searches_know_versions_and_the_latest(caller: Caller) -> None:
    await deploy(caller, answering("a", "1"), answering("b", "1"))
    await deploy(caller, answering("a", "2"), answering("b", "1"))
    by_version = [{"field": "version", "order": 2}, {"field": "name"}]

    every = await caller("SearchDecisionDefinitions", sort=by_version)
    latest = await caller("SearchDecisionDefinitions", filter={"is_latest_version": True})
    named = await caller("SearchDecisionDefinitions", filter={"decision_definition_id": {"like": "*b"}})
    graphs = await caller("SearchDecisionRequirements", filter={"version": {"gt": 1}})

    assert [(each.name, each.version) for each in every.items] == [("a", 2), ("b", 2), ("a", 1), ("b", 1)]
    assert [(each.name, each.version) for each in latest.items] == [("a", 2), ("b", 2)]
    assert [each.version for each in named.items] == [1, 2]
    assert [each.version for each in graphs.items] == [2]


async def test_an_evaluation_answers_and_leaves_instances(caller: Caller, time: Time) -> None:
    await time.pin(86_400_000)
    await deploy(caller, *DISCOUNT)

    answer = await caller("EvaluateDecision", decision_definition_id="discount", variables=ASKED)

    assert (answer.output, answer.HasField("failure_message")) == ("10", False)
    assert [each.decision_definition_id for each in answer.evaluated_decisions] == ["level", "discount"]
    found = await caller(
        "SearchDecisionInstances",
        filter={"decision_evaluation_key": {"eq": answer.decision_evaluation_key}, "state": {"eq": 1}},
        sort=[{"field": "decisionEvaluationInstanceKey"}],
    )
    assert [each.result for each in found.items] == ["2", "10"]
    details = await caller(
        "GetDecisionInstance",
        decision_evaluation_instance_key=found.items[1].decision_evaluation_instance_key,
    )
    row = details.decision_instance
    assert row.evaluation_date.seconds == 86_400
    assert [each.input_value for each in row.evaluated_inputs] == ['"regular"', "2"]
    assert [each.rule_index for each in row.matched_rules] == [2]
    assert list(row.matched_rules) == list(answer.evaluated_decisions[1].matched_rules)


async def test_an_evaluation_is_deleted_with_all_its_decisions(caller: Caller) -> None:
    await deploy(caller, *DISCOUNT)
    deleted, other = [
        await caller("EvaluateDecision", decision_definition_id="discount", variables=ASKED) for _ in range(2)
    ]
    key = deleted.decision_evaluation_key

    for _ in range(2):
        await caller.with_key("k-1")("DeleteDecisionInstance", decision_evaluation_key=key)

    found = (await caller("SearchDecisionInstances")).items
    assert [item.decision_evaluation_key for item in found] == [other.decision_evaluation_key] * 2
    with pytest.raises(NotFound):
        await caller("DeleteDecisionInstance", decision_evaluation_key=key)


async def test_strangers_and_readers_delete_no_evaluation(caller: Caller) -> None:
    await deploy(caller, *DISCOUNT)
    answer = await caller("EvaluateDecision", decision_definition_id="discount", variables=ASKED)
    key = answer.decision_evaluation_key

    with pytest.raises(NotFound):
        await caller.signed_in_as("stranger")("DeleteDecisionInstance", decision_evaluation_key=key)
    with pytest.raises(PermissionDenied, match="instance:delete"):
        await caller.signed_in_as("reader")("DeleteDecisionInstance", decision_evaluation_key=key)

    assert len((await caller("SearchDecisionInstances")).items) == 2


async def test_a_repeat_of_an_evaluation_is_answered_as_before(caller: Caller) -> None:
    await deploy(caller, answering("a", "uuid()"))
    repeated = caller.with_key("once")

    first = await repeated("EvaluateDecision", decision_definition_id="a")

    assert await repeated("EvaluateDecision", decision_definition_id="a") == first
    assert (await caller("SearchDecisionInstances")).page.total_items == 1


async def test_decisions_of_another_tenant_do_not_exist(caller: Caller) -> None:
    graph, level, _ = await deploy(caller, *DISCOUNT)
    key = level.decision_definition.decision_definition_key
    answer = await caller("EvaluateDecision", decision_definition_key=key, variables=ASKED)
    instance_key = answer.evaluated_decisions[0].decision_evaluation_instance_key
    stranger = caller.signed_in_as("stranger")

    for rpc, fields in (
        (
            "GetDecisionRequirements",
            {"decision_requirements_key": graph.decision_requirements.decision_requirements_key},
        ),
        ("GetDecisionDefinition", {"decision_definition_key": key}),
        ("GetDecisionDefinitionXml", {"decision_definition_key": key}),
        ("EvaluateDecision", {"decision_definition_key": key}),
        ("EvaluateDecision", {"decision_definition_id": "level"}),
        ("GetDecisionInstance", {"decision_evaluation_instance_key": instance_key}),
    ):
        with pytest.raises(NotFound):
            await stranger(rpc, **fields)
    assert not (await stranger("SearchDecisionInstances")).items


@pytest.mark.parametrize("key", ["1-1", "2251799813685249-2251799813685249", "9" * 31 + "-1"])
async def test_a_decision_instance_that_nobody_made_is_not_found(caller: Caller, key: str) -> None:
    with pytest.raises(NotFound):
        await caller("GetDecisionInstance", decision_evaluation_instance_key=key)


async def test_an_expression_is_evaluated_over_its_variables(caller: Caller, time: Time) -> None:
    await time.pin(86_400_000)
    text = "={sum: x + 1, at: string(now()), gone: y.z, id: string length(uuid())}"

    answer = await caller("EvaluateExpression", expression=text, variables=b'{"x": 12345678901234567890}')

    assert answer.expression == text
    assert json.loads(answer.result) == {
        "sum": 12345678901234567891,
        "at": "1970-01-02T00:00:00Z",
        "gone": None,
        "id": 36,
    }
    assert [warning.message.split("]")[0] for warning in answer.warnings][:1] == ["[NO_VARIABLE_FOUND"]


@pytest.mark.parametrize("expression", ["1 +", "= (", 'assert(null, false, "no")'])
async def test_an_expression_without_a_result_is_refused(caller: Caller, expression: str) -> None:
    with pytest.raises(InvalidArgument, match="expression: "):
        await caller("EvaluateExpression", expression=expression)
