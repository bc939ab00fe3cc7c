"""Process instances as Zeebe's clients begin, change and end them."""

import asyncio
import json
from typing import Any

import grpc
import pytest

from gnomon.engine.v1 import process_instance_pb2
from gnomon.gateway_protocol import gateway_pb2 as pb
from server.bpmn.builder import process
from tests.server.gateway.zeebe import Zeebe, refusal
from tests.server.rpc.caller import Caller

ORDER = process("order").start().service_task("charge", type="charge").service_task("ship", type="ship").end()
QUICK = process("quick").start().end()
Modify = pb.ModifyProcessInstanceRequest


async def state(own: Caller, key: int) -> str:
    instance = (await own("GetProcessInstance", process_instance_key=key)).process_instance
    name = process_instance_pb2.ProcessInstanceState.Name(instance.state)
    return name.removeprefix("PROCESS_INSTANCE_STATE_")


async def element_instance_key(own: Caller, instance_key: int, element_id: str) -> int:
    filter_ = {"process_instance_key": {"eq": instance_key}, "element_id": {"eq": element_id}}
    (found,) = (await own("SearchElementInstances", filter=filter_)).items
    return int(found.element_instance_key)


async def test_an_instance_is_created_of_the_latest_version(zeebe: Zeebe) -> None:
    await zeebe.deploy(ORDER)
    key = await zeebe.deploy(process("order").start().service_task("bill", type="bill").end())

    created = await zeebe(
        "CreateProcessInstance",
        bpmnProcessId="order",
        version=-1,
        variables='{"total":120}',
        tags=["colour:red"],
        businessId="o-1",
    )

    expected = pb.CreateProcessInstanceResponse(
        processDefinitionKey=key,
        bpmnProcessId="order",
        version=2,
        processInstanceKey=created.processInstanceKey,
        tenantId="default",
        tags=["colour:red"],
        businessId="o-1",
    )
    assert created == expected
    assert created.processInstanceKey > 0


@pytest.mark.parametrize("by_key", [pytest.param(True, id="key"), pytest.param(False, id="version")])
async def test_an_instance_is_created_of_the_definition_that_is_named(zeebe: Zeebe, *, by_key: bool) -> None:
    key = await zeebe.deploy(ORDER)
    await zeebe.deploy(process("order").start().end())

    chosen: dict[str, Any] = (
        {"processDefinitionKey": key} if by_key else {"bpmnProcessId": "order", "version": 1}
    )
    created = await zeebe("CreateProcessInstance", **chosen)

    assert (created.processDefinitionKey, created.version) == (key, 1)
    assert not created.HasField("businessId")


async def test_an_instance_begins_at_an_element_and_ends_after_it(zeebe: Zeebe, own: Caller) -> None:
    await zeebe.deploy(ORDER)
    created = await zeebe(
        "CreateProcessInstance",
        bpmnProcessId="order",
        version=-1,
        startInstructions=[{"elementId": "ship"}],
        runtimeInstructions=[{"terminate": {"afterElementId": "ship"}}],
    )

    (job,) = await own.activate("ship")
    await zeebe("CompleteJob", jobKey=job.job_key)

    assert await state(own, created.processInstanceKey) == "TERMINATED"


async def test_a_client_awaits_the_variables_of_an_instance(zeebe: Zeebe) -> None:
    await zeebe.deploy(ORDER)
    request = {"bpmnProcessId": "order", "version": -1, "variables": '{"total":120}'}

    awaiting = asyncio.ensure_future(
        zeebe("CreateProcessInstanceWithResult", request=request, requestTimeout=20_000)
    )
    for task in ("charge", "ship"):
        (job,) = await zeebe.activate(task, requestTimeout=20_000)
        await zeebe("CompleteJob", jobKey=job.key, variables=json.dumps({task: True}))

    answer = await awaiting
    assert json.loads(answer.variables) == {"total": 120, "charge": True, "ship": True}
    assert (answer.bpmnProcessId, answer.version, answer.tenantId) == ("order", 1, "default")
    assert answer.processInstanceKey == job.processInstanceKey


async def test_a_client_awaits_the_variables_that_it_names(zeebe: Zeebe) -> None:
    await zeebe.deploy(QUICK)
    request = {"bpmnProcessId": "quick", "version": -1, "variables": '{"a":1,"b":2}'}

    answer = await zeebe("CreateProcessInstanceWithResult", request=request, fetchVariables=["b"])

    assert json.loads(answer.variables) == {"b": 2}


async def test_an_instance_that_runs_longer_than_its_client_waits_goes_on(zeebe: Zeebe, own: Caller) -> None:
    await zeebe.deploy(ORDER)
    request = {"bpmnProcessId": "order", "version": -1}

    late = await refusal(zeebe("CreateProcessInstanceWithResult", request=request, requestTimeout=50))

    (job,) = await zeebe.activate("charge")
    assert late.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert await state(own, job.processInstanceKey) == "ACTIVE"


async def test_a_wait_of_more_than_an_hour_is_an_hour(zeebe: Zeebe) -> None:
    await zeebe.deploy(QUICK)
    request = {"bpmnProcessId": "quick", "version": -1}

    answer = await zeebe("CreateProcessInstanceWithResult", request=request, requestTimeout=2**62)

    assert answer.variables == "{}"


async def test_a_cancelled_instance_is_gone(zeebe: Zeebe, own: Caller) -> None:
    await zeebe.deploy(ORDER)
    key = await zeebe.start("order")

    await zeebe("CancelProcessInstance", processInstanceKey=key, operationReference=7)

    assert await state(own, key) == "TERMINATED"
    assert await zeebe.activate("charge") == []
    again = await refusal(zeebe("CancelProcessInstance", processInstanceKey=key))
    assert again.code() is grpc.StatusCode.NOT_FOUND


async def test_a_modification_activates_and_terminates(zeebe: Zeebe, own: Caller) -> None:
    await zeebe.deploy(ORDER)
    key = await zeebe.start("order")
    charge = await element_instance_key(own, key, "charge")

    variables = [Modify.VariableInstruction(variables='{"address":"here"}', scopeId="ship")]
    await zeebe(
        "ModifyProcessInstance",
        processInstanceKey=key,
        activateInstructions=[Modify.ActivateInstruction(elementId="ship", variableInstructions=variables)],
        terminateInstructions=[Modify.TerminateInstruction(elementInstanceKey=charge)],
    )

    assert await zeebe.activate("charge") == []
    (job,) = await zeebe.activate("ship")
    assert json.loads(job.variables) == {"address": "here"}


@pytest.mark.parametrize("by_key", [pytest.param(True, id="key"), pytest.param(False, id="id")])
async def test_a_modification_moves(zeebe: Zeebe, own: Caller, *, by_key: bool) -> None:
    await zeebe.deploy(ORDER)
    key = await zeebe.start("order")
    source: dict[str, Any] = (
        {"sourceElementInstanceKey": await element_instance_key(own, key, "charge")}
        if by_key
        else {"sourceElementId": "charge"}
    )

    move = Modify.MoveInstruction(targetElementId="ship", useSourceParentKeyAsAncestorScopeKey=True, **source)
    await zeebe("ModifyProcessInstance", processInstanceKey=key, moveInstructions=[move])

    assert await zeebe.activate("charge") == []
    assert len(await zeebe.activate("ship")) == 1


async def test_a_move_with_two_scopes_is_refused(zeebe: Zeebe) -> None:
    await zeebe.deploy(ORDER)
    key = await zeebe.start("order")

    move = Modify.MoveInstruction(
        sourceElementId="charge",
        targetElementId="ship",
        inferAncestorScopeFromSourceHierarchy=True,
        useSourceParentKeyAsAncestorScopeKey=True,
    )
    refused = await refusal(zeebe("ModifyProcessInstance", processInstanceKey=key, moveInstructions=[move]))

    assert refused.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert len(await zeebe.activate("charge")) == 1


async def test_a_migrated_instance_goes_on_with_the_new_definition(zeebe: Zeebe) -> None:
    await zeebe.deploy(ORDER)
    key = await zeebe.start("order")
    target = await zeebe.deploy(
        process("better").start().service_task("bill", type="charge").service_task("send", type="send").end()
    )

    mapping = pb.MigrateProcessInstanceRequest.MappingInstruction(
        sourceElementId="charge", targetElementId="bill"
    )
    plan = pb.MigrateProcessInstanceRequest.MigrationPlan(
        targetProcessDefinitionKey=target, mappingInstructions=[mapping]
    )
    await zeebe("MigrateProcessInstance", processInstanceKey=key, migrationPlan=plan)

    (job,) = await zeebe.activate("charge")
    assert (job.bpmnProcessId, job.elementId, job.processDefinitionKey) == ("better", "bill", target)


@pytest.mark.parametrize(
    ("local", "expected"), [pytest.param(False, 2, id="propagated"), pytest.param(True, 1, id="local")]
)
async def test_variables_of_an_element_are_set(
    zeebe: Zeebe, own: Caller, *, local: bool, expected: int
) -> None:
    await zeebe.deploy(ORDER)
    key = await zeebe.start("order", '{"a":1}')
    charge = await element_instance_key(own, key, "charge")

    await zeebe("SetVariables", elementInstanceKey=charge, variables='{"a":2}', local=local)

    (job,) = await zeebe.activate("charge")
    assert json.loads(job.variables) == {"a": 2}
    await zeebe("CompleteJob", jobKey=job.key)
    (later,) = await zeebe.activate("ship")
    assert json.loads(later.variables) == {"a": expected}
