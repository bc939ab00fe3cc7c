"""Deployments, decisions, messages and signals, as Zeebe's clients see them."""

import json

import grpc
import pytest

from gnomon.gateway_protocol import gateway_pb2 as pb
from server.bpmn.builder import process
from tests.server.engine.form_files import form_json
from tests.server.engine.graphs import answering, graph_xml
from tests.server.engine.resource_files import rpa_json
from tests.server.gateway.zeebe import Zeebe, refusal
from tests.server.rpc.caller import Caller
from tests.server_process import ROOT

ORDER = process("order").start().service_task("charge", type="charge").end()
GRAPH = graph_xml(answering("price", "2"))
PRICING = (ROOT / "examples" / "pricing.dmn").read_bytes()


async def test_the_topology_names_every_partition_once(zeebe: Zeebe) -> None:
    topology = await zeebe("Topology")

    partitions = [partition for broker in topology.brokers for partition in broker.partitions]
    numbers = sorted(partition.partitionId for partition in partitions)
    assert numbers == list(range(1, topology.partitionsCount + 1))
    assert {partition.role for partition in partitions} == {pb.Partition.LEADER}
    assert {partition.health for partition in partitions} == {pb.Partition.HEALTHY}
    assert (topology.clusterSize, topology.replicationFactor) == (1, 1)
    assert topology.gatewayVersion == topology.brokers[0].version != ""


async def test_a_deployment_answers_with_what_clients_know_of(zeebe: Zeebe) -> None:
    files = {
        "robot.rpa": rpa_json(),
        "address.form": form_json(),
        "pricing.dmn": GRAPH,
        "order.bpmn": ORDER.to_xml(),
    }

    answer = await zeebe(
        "DeployResource", resources=[{"name": name, "content": content} for name, content in files.items()]
    )

    assert answer.key > 0
    assert answer.tenantId == "default"
    kinds = [deployment.WhichOneof("Metadata") for deployment in answer.deployments]
    assert kinds == ["process", "decision", "decisionRequirements", "form"]
    deployed, decision, graph, form = answer.deployments
    assert deployed.process == pb.ProcessMetadata(
        bpmnProcessId="order",
        version=1,
        processDefinitionKey=deployed.process.processDefinitionKey,
        resourceName="order.bpmn",
        tenantId="default",
    )
    assert graph.decisionRequirements == pb.DecisionRequirementsMetadata(
        dmnDecisionRequirementsId="pricing",
        dmnDecisionRequirementsName=graph.decisionRequirements.dmnDecisionRequirementsName,
        version=1,
        decisionRequirementsKey=graph.decisionRequirements.decisionRequirementsKey,
        resourceName="pricing.dmn",
        tenantId="default",
    )
    assert decision.decision == pb.DecisionMetadata(
        dmnDecisionId="price",
        dmnDecisionName=decision.decision.dmnDecisionName,
        version=1,
        decisionKey=decision.decision.decisionKey,
        dmnDecisionRequirementsId="pricing",
        decisionRequirementsKey=graph.decisionRequirements.decisionRequirementsKey,
        tenantId="default",
    )
    assert form.form == pb.FormMetadata(
        formId="address",
        version=1,
        formKey=form.form.formKey,
        resourceName="address.form",
        tenantId="default",
    )


async def test_older_clients_deploy_processes(zeebe: Zeebe) -> None:
    answer = await zeebe("DeployProcess", processes=[{"name": "order.bpmn", "definition": ORDER.to_xml()}])

    (deployed,) = answer.processes
    assert answer.key > 0
    assert (deployed.bpmnProcessId, deployed.version) == ("order", 1)
    assert await zeebe.start("order") > 0


async def test_of_a_faulty_deployment_nothing_is_deployed(zeebe: Zeebe) -> None:
    resources = [
        {"name": "order.bpmn", "content": ORDER.to_xml()},
        {"name": "broken.bpmn", "content": b"<bpmn:definitions"},
    ]

    refused = await refusal(zeebe("DeployResource", resources=resources))

    unknown = await refusal(zeebe("CreateProcessInstance", bpmnProcessId="order", version=-1))
    assert refused.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "broken.bpmn" in (refused.details() or "")
    assert unknown.code() is grpc.StatusCode.NOT_FOUND


async def test_a_deleted_process_begins_no_instance(zeebe: Zeebe) -> None:
    key = await zeebe.deploy(ORDER)

    answer = await zeebe("DeleteResource", resourceKey=key)

    unknown = await refusal(zeebe("CreateProcessInstance", bpmnProcessId="order", version=-1))
    assert answer == pb.DeleteResourceResponse(resourceKey=str(key))
    assert unknown.code() is grpc.StatusCode.NOT_FOUND


async def test_a_deletion_deletes_history_when_asked_to(zeebe: Zeebe, own: Caller) -> None:
    key = await zeebe.deploy(process("quick").start().end())
    await zeebe.start("quick")

    answer = await zeebe("DeleteResource", resourceKey=key, deleteHistory=True)

    batch = await own("GetBatchOperation", batch_operation_key=int(answer.batchOperation.batchOperationKey))
    assert batch.batch_operation.operations_total_count == 1
    kind = pb.BatchOperationCreatedResult.DELETE_PROCESS_INSTANCE
    assert answer.batchOperation.batchOperationType == kind


@pytest.mark.parametrize("by_key", [pytest.param(True, id="key"), pytest.param(False, id="id")])
async def test_a_decision_is_evaluated(zeebe: Zeebe, *, by_key: bool) -> None:
    deployed = await zeebe("DeployResource", resources=[{"name": "pricing.dmn", "content": PRICING}])
    keys = {each.decision.dmnDecisionId: each.decision.decisionKey for each in deployed.deployments}

    answer = await zeebe(
        "EvaluateDecision",
        decisionKey=keys["discount"] if by_key else 0,
        decisionId="" if by_key else "discount",
        variables='{"customer":"regular","amount":120}',
    )

    assert (answer.decisionKey, answer.decisionId) == (keys["discount"], "discount")
    assert (answer.decisionName, answer.decisionVersion) == ("Discount", 1)
    assert (answer.decisionOutput, answer.failureMessage, answer.failedDecisionId) == ("10", "", "")
    assert answer.decisionRequirementsId == "pricing"
    assert answer.decisionRequirementsKey > 0
    assert answer.tenantId == "default"
    assert answer.decisionEvaluationKey == answer.decisionInstanceKey > 0
    level, discount = answer.evaluatedDecisions
    assert (level.decisionId, level.decisionKey, level.decisionOutput) == ("level", keys["level"], "2")
    assert discount == pb.EvaluatedDecision(
        decisionKey=keys["discount"],
        decisionId="discount",
        decisionName="Discount",
        decisionVersion=1,
        decisionType="DECISION_TABLE",
        decisionOutput="10",
        matchedRules=[
            pb.MatchedDecisionRule(
                ruleId="largeOrder",
                ruleIndex=3,
                evaluatedOutputs=[
                    pb.EvaluatedDecisionOutput(
                        outputId="percentOutput", outputName="Discount in percent", outputValue="10"
                    )
                ],
            )
        ],
        evaluatedInputs=[
            pb.EvaluatedDecisionInput(inputId="customerInput", inputName="Customer", inputValue='"regular"'),
            pb.EvaluatedDecisionInput(inputId="levelInput", inputName="Level", inputValue="2"),
        ],
        tenantId="default",
        decisionEvaluationInstanceKey=discount.decisionEvaluationInstanceKey,
    )
    assert discount.decisionEvaluationInstanceKey.startswith(f"{answer.decisionEvaluationKey}-")


async def test_a_decision_that_fails_says_why(zeebe: Zeebe) -> None:
    await zeebe("DeployResource", resources=[{"name": "pricing.dmn", "content": PRICING}])

    answer = await zeebe(
        "EvaluateDecision", decisionId="discount", variables='{"customer":"regular","amount":0}'
    )

    assert answer.failedDecisionId == "level"
    assert "assert" in answer.failureMessage


@pytest.mark.parametrize("chosen", [{"decisionId": "none"}, {"decisionKey": 2**40}], ids=["id", "key"])
async def test_a_decision_that_is_unknown_is_not_found(zeebe: Zeebe, chosen: dict[str, object]) -> None:
    refused = await refusal(zeebe("EvaluateDecision", **chosen))

    assert refused.code() is grpc.StatusCode.NOT_FOUND


async def test_a_message_goes_to_the_instance_that_waits_for_it(zeebe: Zeebe) -> None:
    waiting = process("waiting").start().message_catch("paid", message="paid", key="=number")
    await zeebe.deploy(waiting.service_task("ship", type="ship").end())
    await zeebe.start("waiting", '{"number":"o-1"}')
    key = await zeebe.start("waiting", '{"number":"o-2"}')

    answer = await zeebe(
        "PublishMessage", name="paid", correlationKey="o-2", timeToLive=60_000, variables='{"amount":5}'
    )

    (job,) = await zeebe.activate("ship", requestTimeout=20_000)
    assert answer.key > 0
    assert answer.tenantId == "default"
    assert job.processInstanceKey == key
    assert json.loads(job.variables) == {"number": "o-2", "amount": 5}


async def test_a_message_is_published_once_for_each_id(zeebe: Zeebe) -> None:
    message = {"name": "paid", "correlationKey": "o-1", "timeToLive": 60_000, "messageId": "m-1"}
    await zeebe("PublishMessage", **message)

    again = await refusal(zeebe("PublishMessage", **message))

    assert again.code() is grpc.StatusCode.ALREADY_EXISTS


async def test_a_signal_goes_to_every_instance_that_waits_for_it(zeebe: Zeebe) -> None:
    waiting = process("waiting").start().signal_catch("alarm", signal="alarm")
    await zeebe.deploy(waiting.service_task("leave", type="leave").end())
    started = {await zeebe.start("waiting") for _ in range(3)}

    answer = await zeebe("BroadcastSignal", signalName="alarm", variables='{"floor":2}')

    found: set[int] = set()
    while len(found) < len(started):
        jobs = await zeebe.activate("leave", requestTimeout=20_000)
        assert {job.variables for job in jobs} == {'{"floor":2}'}
        found.update(job.processInstanceKey for job in jobs)
    assert found == started
    assert answer.key > 0
    assert answer.tenantId == "default"


async def test_conditions_begin_instances(zeebe: Zeebe) -> None:
    key = await zeebe.deploy(process("hot").start_condition("above", condition="=degrees > 30").end())

    cold = await zeebe("EvaluateConditional", variables='{"degrees":20}')
    hot = await zeebe("EvaluateConditional", variables='{"degrees":40}', processDefinitionKey=key)

    (begun,) = hot.processInstances
    assert list(cold.processInstances) == []
    assert begun.processDefinitionKey == key
    assert begun.processInstanceKey > 0
    assert hot.conditionalEvaluationKey > 0
    assert hot.tenantId == "default"
