"""Erasure of variables as a batch operation, over every channel, in every mode."""

import json
from typing import Any

import pytest

from gnomon.engine.v1 import batch_operation_pb2 as pb
from server.bpmn.builder import ProcessBuilder, process, sub_process
from server.platform.errors import InvalidArgument, PermissionDenied
from tests.server.engine.graphs import DISCOUNT, graph_xml
from tests.server.rpc.caller import Caller
from tests.server.rpc.test_batch_operations import ended
from tests.waits import until_so

ORDER = (
    process("order")
    .decision_task("rate", decision="discount", result="rate")
    .message_catch("paid", message="paid", key="=customer")
    .embed(sub_process("inner").service_task("pack", type="pack").end(), inputs={"copy": "=customer"})
    .service_task("charge", type="charge")
    .end()
)
SIMPLE = process("simple").service_task("charge", type="charge").end()
CALLING = process("calling").call_activity("call", process="simple").end()
SECRET = "regular"
VARIABLES = b'{"customer": "regular", "amount": 120}'


async def deployed(caller: Caller, *processes: ProcessBuilder) -> None:
    resource = {"name": "pricing.dmn", "content": graph_xml(*DISCOUNT)}
    await caller("CreateDeployment", resources=[resource])
    for each in processes:
        await caller.deploy(each)


async def ordered(caller: Caller) -> int:
    """A process instance with a decision, a correlated message, an ended scope, and a failed job in another scope."""
    key = await caller.start("order", VARIABLES)
    await caller("CorrelateMessage", name="paid", correlation_key=SECRET)
    (job,) = await caller.activate("pack")
    await caller("CompleteJob", job_key=job.job_key)
    (job,) = await caller.activate("charge")
    await caller("FailJob", job_key=job.job_key, retries=0, error_message=f"{SECRET} has no credit")
    return key


async def values(caller: Caller, key: int) -> dict[str, str]:
    found = await caller("SearchVariables", filter={"process_instance_key": {"eq": key}})
    return {each.name: each.value for each in found.items}


async def texts(caller: Caller, key: int) -> str:
    """Everything that searches and reads return about a process instance."""
    of_it = {"process_instance_key": {"eq": key}}
    found = [
        await caller(f"Search{each}", filter=of_it)
        for each in ("Variables", "Jobs", "Incidents", "ElementInstances", "CorrelatedMessageSubscriptions")
    ]
    decisions = await caller("SearchDecisionInstances", filter=of_it)
    for each in decisions.items:
        decision_key = each.decision_evaluation_instance_key
        found.append(await caller("GetDecisionInstance", decision_evaluation_instance_key=decision_key))
    found.append(await caller("SearchMessageSubscriptions", filter=of_it))
    return "".join(map(str, found))


async def erased(caller: Caller, **fields: object) -> Any:
    created = await caller("EraseVariablesBatchOperation", **fields)
    assert created.batch_operation_type == pb.BATCH_OPERATION_TYPE_ERASE_VARIABLES
    return await ended(caller, created.batch_operation_key)


async def test_values_and_their_copies_disappear_from_ended_process_instances(caller: Caller) -> None:
    await deployed(caller, ORDER)
    key, other = await ordered(caller), await ordered(caller)
    for each in (key, other):
        await caller("CancelProcessInstance", process_instance_key=each)
    before = await texts(caller, other)
    assert SECRET in await texts(caller, key)

    batch = await erased(caller, filter={"process_instance_key": {"eq": key}})

    assert (batch.operations_total_count, batch.operations_completed_count) == (1, 1)

    async def is_erased() -> bool:
        return SECRET not in await texts(caller, key)

    await until_so(is_erased)
    assert set((await values(caller, key)).values()) == {'"[erased]"'}
    assert await texts(caller, other) == before


async def test_variables_of_active_scopes_become_null_and_those_of_ended_ones_are_erased(
    caller: Caller,
) -> None:
    await deployed(caller, ORDER)
    key = await ordered(caller)

    await erased(caller, filter={"process_instance_key": {"eq": key}})

    async def is_erased() -> bool:
        return SECRET not in await texts(caller, key)

    await until_so(is_erased)
    assert await values(caller, key) == {
        "customer": "null",
        "amount": "null",
        "rate": "null",
        "copy": '"[erased]"',
    }
    (incident,) = (await caller("SearchIncidents", filter={"process_instance_key": {"eq": key}})).items
    await caller("UpdateJob", job_key=incident.job_key, changeset={"retries": 1})
    await caller("ResolveIncident", incident_key=incident.incident_key)
    (job,) = await caller.activate("charge")
    assert json.loads(job.variables) == {"customer": None, "amount": None, "rate": None}
    await caller("CompleteJob", job_key=job.job_key, variables=b'{"customer": "new"}')
    assert (await values(caller, key))["customer"] == '"new"'


async def test_named_variables_alone_are_erased(caller: Caller) -> None:
    await deployed(caller, SIMPLE)
    running, over = [await caller.start("simple", VARIABLES) for _ in range(2)]
    await caller("CancelProcessInstance", process_instance_key=over)

    by_value = {"variables": [{"name": "customer", "value": {"eq": '"regular"'}}]}
    batch = await erased(caller, filter=by_value, variable_names=["customer", "unknown", "customer"])

    assert batch.operations_completed_count == 2

    async def is_erased() -> bool:
        return await values(caller, over) == {"customer": '"[erased]"', "amount": "120"}

    await until_so(is_erased)
    assert await values(caller, running) == {"customer": "null", "amount": "120"}
    assert not (await caller("SearchProcessInstances", filter=by_value)).items


async def test_called_process_instances_are_included(caller: Caller) -> None:
    await deployed(caller, SIMPLE, CALLING)
    await caller.start("simple", VARIABLES)
    root = await caller.start("calling", VARIABLES)

    batch = await erased(caller, filter={"process_definition_id": {"eq": "calling"}})

    assert batch.operations_completed_count == 2
    of_calls = {"parent_process_instance_key": {"eq": root}}
    (called,) = (await caller("SearchProcessInstances", filter=of_calls)).items
    assert set((await values(caller, called.process_instance_key)).values()) == {"null"}
    left = await caller("SearchVariables", filter={"value": {"eq": '"regular"'}})
    assert len(left.items) == 1


async def test_variables_of_other_tenants_stay(caller: Caller) -> None:
    await deployed(caller, SIMPLE)
    key = await caller.start("simple", VARIABLES)

    batch = await erased(caller.signed_in_as("stranger"), filter={"process_instance_key": {"exists": True}})

    assert batch.operations_total_count == 0
    assert (await values(caller, key))["customer"] == '"regular"'


async def test_an_erasure_needs_a_permission_and_a_condition(caller: Caller) -> None:
    await deployed(caller, SIMPLE)
    key = await caller.start("simple", VARIABLES)
    of_it = {"process_instance_key": {"eq": key}}

    with pytest.raises(PermissionDenied, match="variable:erase"):
        await caller.signed_in_as("reader")("EraseVariablesBatchOperation", filter=of_it)
    for nothing in ({}, {"process_instance_key": {"in": []}}):
        with pytest.raises(InvalidArgument):
            await caller("EraseVariablesBatchOperation", filter=nothing)
    with pytest.raises(InvalidArgument):
        await caller("EraseVariablesBatchOperation", filter=of_it, variable_names=[""])

    assert (await values(caller, key))["customer"] == '"regular"'
