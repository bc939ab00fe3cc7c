import asyncio
from typing import Any

import pytest

from gnomon.engine.v1 import batch_operation_pb2 as pb
from server.bpmn.builder import process
from server.engine import batch_commands
from server.engine.answers import BatchOperationCreated
from server.engine.batch_operations import BatchAction, BatchItem, BatchOperationType
from server.engine.handlers.batch_operation import PAGE_ITEMS
from server.engine.keys import Key, first_key
from server.partition.config import MOST_BATCH_ITEMS, BatchesConfig
from server.platform.call import Call, Principal, TenantId
from server.platform.channels import LocalChannel
from server.platform.dispatch import Dispatcher
from server.platform.errors import InvalidArgument, NotFound, PermissionDenied
from server.platform.interceptors import interceptors
from server.rpc import batch_creation
from tests.server.engine.graphs import DISCOUNT, answering, graph_xml
from tests.server.rpc.caller import EVERYTHING, Caller
from tests.server.rpc.engines import Running, embedded
from tests.waits import PATIENCE_SECONDS, until_so

ORDER = process("order").service_task("charge", type="charge").end()
OTHER = process("other").service_task("charge", type="charge").end()
CALLING = process("calling").call_activity("call", process="order").end()

SAME = {"source_element_id": "charge", "target_element_id": "charge"}
ORDERS = {"process_definition_id": {"eq": "order"}}
# Process instances and decision instances both belong to a process definition or name one with this field.
ALL = {"tenant_id": {"exists": True}}


async def ended(caller: Caller, key: int) -> Any:
    """The batch operation when all of its items are processed."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            found = (await caller("GetBatchOperation", batch_operation_key=key)).batch_operation
            if found.HasField("end_date"):
                return found
            await asyncio.sleep(0.01)


async def active(caller: Caller) -> set[int]:
    found = await caller("SearchProcessInstances", filter={"state": {"eq": 1}})
    return {item.process_instance_key for item in found.items}


async def test_process_instances_that_match_are_cancelled(caller: Caller) -> None:
    await caller.deploy(ORDER)
    await caller.deploy(OTHER)
    orders = {await caller.start("order") for _ in range(3)}
    other = await caller.start("other")

    created = await caller("CancelProcessInstancesBatchOperation", filter=ORDERS)

    assert created.batch_operation_type == pb.BATCH_OPERATION_TYPE_CANCEL_PROCESS_INSTANCE
    batch = await ended(caller, created.batch_operation_key)
    assert batch.state == pb.BATCH_OPERATION_STATE_COMPLETED
    assert (batch.operations_total_count, batch.operations_completed_count) == (3, 3)
    assert (batch.actor_id, list(batch.errors)) == ("worker", [])
    assert await active(caller) == {other}
    items = await caller(
        "SearchBatchOperationItems", filter={"batch_operation_key": {"eq": batch.batch_operation_key}}
    )
    assert {item.item_key for item in items.items} == orders
    assert {item.process_instance_key for item in items.items} == orders
    assert {item.state for item in items.items} == {pb.BATCH_OPERATION_ITEM_STATE_COMPLETED}


async def test_a_process_instance_that_a_call_activity_started_is_no_item(caller: Caller) -> None:
    await caller.deploy(ORDER)
    await caller.deploy(CALLING)
    await caller.start("calling")

    created = await caller("CancelProcessInstancesBatchOperation", filter=ORDERS)

    batch = await ended(caller, created.batch_operation_key)
    assert batch.operations_total_count == 0
    assert len(await active(caller)) == 2


async def test_process_instances_of_other_tenants_are_no_items(caller: Caller) -> None:
    await caller.deploy(ORDER)
    key = await caller.start("order")
    stranger = caller.signed_in_as("stranger")

    created = await stranger("CancelProcessInstancesBatchOperation", filter=ALL)

    batch = await ended(stranger, created.batch_operation_key)
    assert batch.operations_total_count == 0
    assert await active(caller) == {key}
    with pytest.raises(NotFound):
        await caller("GetBatchOperation", batch_operation_key=created.batch_operation_key)
    assert not (await caller("SearchBatchOperations")).items


async def test_a_repeated_request_begins_nothing_new(caller: Caller) -> None:
    await caller.deploy(ORDER)
    await caller.start("order")
    repeating = caller.with_key("k-1")

    first = await repeating("CancelProcessInstancesBatchOperation", filter=ORDERS)
    await ended(caller, first.batch_operation_key)
    await caller.start("order")
    second = await repeating("CancelProcessInstancesBatchOperation", filter=ORDERS)

    assert second == first
    found = await caller("SearchBatchOperations", filter={"operation_type": {"eq": 1}})
    assert [item.operations_total_count for item in found.items] == [1]
    assert len(await active(caller)) == 1


async def test_a_caller_who_may_not_cancel_begins_none(caller: Caller) -> None:
    with pytest.raises(PermissionDenied):
        await caller.signed_in_as("reader")("CancelProcessInstancesBatchOperation", filter=ALL)


async def test_a_batch_operation_that_has_ended_is_neither_suspended_nor_resumed_nor_cancelled(
    caller: Caller,
) -> None:
    created = await caller("CancelProcessInstancesBatchOperation", filter=ALL)
    key = created.batch_operation_key
    await ended(caller, key)

    for verb in ("Suspend", "Resume", "Cancel"):
        with pytest.raises(NotFound):
            await caller(f"{verb}BatchOperation", batch_operation_key=key)


async def test_a_caller_who_may_not_cancel_process_instances_suspends_no_cancellation(caller: Caller) -> None:
    created = await caller("CancelProcessInstancesBatchOperation", filter=ALL)

    with pytest.raises(PermissionDenied, match="instance:cancel"):
        await caller.signed_in_as("reader")(
            "SuspendBatchOperation", batch_operation_key=created.batch_operation_key
        )


async def test_the_history_of_process_instances_that_match_is_deleted(caller: Caller) -> None:
    await caller.deploy(ORDER)
    await caller.deploy(OTHER)
    running, *orders = [await caller.start("order") for _ in range(3)]
    other = await caller.start("other")
    for key in (*orders, other):
        await caller("CancelProcessInstance", process_instance_key=key)

    created = await caller("DeleteProcessInstancesBatchOperation", filter=ORDERS)

    assert created.batch_operation_type == pb.BATCH_OPERATION_TYPE_DELETE_PROCESS_INSTANCE
    batch = await ended(caller, created.batch_operation_key)
    assert (batch.operations_completed_count, batch.operations_failed_count) == (2, 1)

    async def is_deleted() -> bool:
        found = await caller("SearchProcessInstances")
        return {item.process_instance_key for item in found.items} == {running, other}

    await until_so(is_deleted)
    failed = {"state": {"eq": pb.BATCH_OPERATION_ITEM_STATE_FAILED}}
    (item,) = (await caller("SearchBatchOperationItems", filter=failed)).items
    assert item.item_key == running
    assert f"{running} has not ended" in item.error_message


async def test_evaluations_with_a_decision_that_matches_are_deleted_as_a_whole(caller: Caller) -> None:
    content = graph_xml(*DISCOUNT, answering("other", "1"))
    await caller("CreateDeployment", resources=[{"name": "pricing.dmn", "content": content}])
    asked = b'{"customer": "regular", "amount": 120}'
    evaluated = [
        await caller("EvaluateDecision", decision_definition_id=each, variables=asked)
        for each in ("discount", "other", "level", "discount")
    ]
    keys = [each.decision_evaluation_key for each in evaluated]

    level = {"decision_definition_id": {"eq": "level"}}
    created = await caller("DeleteDecisionInstancesBatchOperation", filter=level)

    assert created.batch_operation_type == pb.BATCH_OPERATION_TYPE_DELETE_DECISION_INSTANCE
    batch = await ended(caller, created.batch_operation_key)
    assert (batch.operations_total_count, batch.operations_completed_count) == (3, 3)
    (left,) = (await caller("SearchDecisionInstances")).items
    assert left.decision_evaluation_key == keys[1]
    items = (await caller("SearchBatchOperationItems", sort=[{"field": "processInstanceKey"}])).items
    assert {item.item_key for item in items} == {keys[0], keys[2], keys[3]}
    assert not any(item.HasField("process_instance_key") for item in items)


async def test_evaluations_on_several_pages_are_items_once(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_creation, "PAGE_ITEMS", 1)
    await caller("CreateDeployment", resources=[{"name": "pricing.dmn", "content": graph_xml(*DISCOUNT)}])
    asked = b'{"customer": "regular", "amount": 120}'
    for _ in range(3):
        await caller("EvaluateDecision", decision_definition_id="discount", variables=asked)

    created = await caller("DeleteDecisionInstancesBatchOperation", filter=ALL)

    batch = await ended(caller, created.batch_operation_key)
    assert (batch.operations_total_count, batch.operations_completed_count) == (3, 3)
    assert not (await caller("SearchDecisionInstances")).items


async def test_evaluations_of_other_tenants_and_too_many_are_not_deleted(caller: Caller) -> None:
    await caller("CreateDeployment", resources=[{"name": "pricing.dmn", "content": graph_xml(*DISCOUNT)}])
    asked = b'{"customer": "regular", "amount": 120}'
    await caller("EvaluateDecision", decision_definition_id="discount", variables=asked)
    stranger = caller.signed_in_as("stranger")

    created = await stranger("DeleteDecisionInstancesBatchOperation", filter=ALL)
    with pytest.raises(InvalidArgument, match="at most 1 decision instances, found 2"):
        await caller("DeleteDecisionInstancesBatchOperation", filter=ALL, at_most=1)

    assert (await ended(stranger, created.batch_operation_key)).operations_total_count == 0
    assert len((await caller("SearchDecisionInstances")).items) == 2


async def test_a_caller_who_may_not_delete_begins_no_deletion(caller: Caller) -> None:
    with pytest.raises(PermissionDenied, match="instance:delete"):
        await caller.signed_in_as("reader")("DeleteDecisionInstancesBatchOperation", filter=ALL)
    with pytest.raises(PermissionDenied, match="instance:delete"):
        await caller.signed_in_as("reader")("DeleteProcessInstancesBatchOperation", filter=ALL)


async def test_a_deletion_of_a_process_definition_deletes_its_history_when_asked_to(caller: Caller) -> None:
    definition = await caller.deploy(ORDER)
    await caller.deploy(OTHER)
    running, *orders = [await caller.start("order") for _ in range(3)]
    other = await caller.start("other")
    for key in (*orders, other):
        await caller("CancelProcessInstance", process_instance_key=key)

    answer = await caller("DeleteResource", resource_key=definition, delete_history=True)

    assert answer.batch_operation.batch_operation_type == "DELETE_PROCESS_INSTANCE"
    batch = await ended(caller, int(answer.batch_operation.batch_operation_key))
    assert (batch.operations_completed_count, batch.operations_failed_count) == (2, 0)

    async def is_deleted() -> bool:
        found = await caller("SearchProcessInstances")
        return {item.process_instance_key for item in found.items} == {running, other}

    await until_so(is_deleted)
    with pytest.raises(NotFound):
        await caller.start("order")


async def test_a_repeated_deletion_of_a_process_definition_begins_nothing_new(caller: Caller) -> None:
    definition = await caller.deploy(ORDER)
    repeating = caller.with_key("k-1")

    first = await repeating("DeleteResource", resource_key=definition, delete_history=True)
    again = await repeating("DeleteResource", resource_key=definition, delete_history=True)

    assert again == first
    assert len((await caller("SearchBatchOperations")).items) == 1


async def test_a_deletion_of_anything_else_has_no_history(caller: Caller) -> None:
    resource = {"name": "work.py", "content": b"print()"}
    deployed = await caller("CreateDeployment", resources=[resource])
    key = deployed.deployments[0].resource.resource_key

    answer = await caller("DeleteResource", resource_key=key, delete_history=True)

    assert not answer.HasField("batch_operation")


async def test_a_caller_who_may_delete_definitions_alone_deletes_no_history(caller: Caller) -> None:
    definition = await caller.deploy(ORDER)

    with pytest.raises(PermissionDenied, match="instance:delete"):
        await caller.signed_in_as("modeller")("DeleteResource", resource_key=definition, delete_history=True)

    assert await caller.start("order")


async def test_the_history_of_too_many_process_instances_is_kept_with_their_definition(
    caller: Caller,
) -> None:
    definition = await caller.deploy(ORDER)
    for _ in range(2):
        await caller("CancelProcessInstance", process_instance_key=await caller.start("order"))

    with pytest.raises(InvalidArgument, match="at most 1 process instances, found 2"):
        await caller("DeleteResource", resource_key=definition, delete_history=True, at_most=1)

    assert await caller.start("order")


async def test_process_instances_that_match_are_migrated(caller: Caller) -> None:
    await caller.deploy(ORDER)
    target = await caller.deploy(OTHER)
    keys = {await caller.start("order") for _ in range(2)}
    plan = {"target_process_definition_key": target, "mapping_instructions": [SAME]}

    created = await caller("MigrateProcessInstancesBatchOperation", filter=ORDERS, migration_plan=plan)

    assert created.batch_operation_type == pb.BATCH_OPERATION_TYPE_MIGRATE_PROCESS_INSTANCE
    assert (await ended(caller, created.batch_operation_key)).operations_completed_count == 2
    moved = await caller("SearchProcessInstances", filter={"process_definition_id": {"eq": "other"}})
    assert {item.process_instance_key for item in moved.items} == keys


async def test_process_instances_that_match_are_modified(caller: Caller) -> None:
    await caller.deploy(process("order").service_task("charge", type="charge").task("last").end())
    await caller.start("order")
    moves = [{"source_element_id": "charge", "target_element_id": "last"}]

    created = await caller("ModifyProcessInstancesBatchOperation", filter=ORDERS, move_instructions=moves)

    assert (await ended(caller, created.batch_operation_key)).operations_completed_count == 1
    assert await active(caller) == set()


async def test_open_incidents_of_the_process_instances_that_match_are_resolved(caller: Caller) -> None:
    await caller.deploy(process("order").parallel_gateway("fork").service_task("charge", type="charge").end())
    for _ in range(2):
        await caller.start("order")
    for job in await caller.activate("charge"):
        await caller("FailJob", job_key=job.job_key, retries=0)

    created = await caller("ResolveIncidentsBatchOperation", filter=ORDERS)

    batch = await ended(caller, created.batch_operation_key)
    assert (batch.operations_total_count, batch.operations_completed_count) == (2, 2)
    assert len(await caller.activate("charge")) == 2
    items = (await caller("SearchBatchOperationItems")).items
    assert all(item.item_key != item.process_instance_key for item in items)


async def test_the_incidents_of_one_process_instance_are_resolved(caller: Caller) -> None:
    await caller.deploy(ORDER)
    key, other = await caller.start("order"), await caller.start("order")
    for job in await caller.activate("charge"):
        await caller("FailJob", job_key=job.job_key, retries=0)

    created = await caller("ResolveProcessInstanceIncidents", process_instance_key=key)

    await ended(caller, created.batch_operation_key)
    assert [job.process_instance_key for job in await caller.activate("charge")] == [key]
    with pytest.raises(NotFound):
        await caller("ResolveProcessInstanceIncidents", process_instance_key=other + 1_000)


CREATIONS: list[tuple[str, int, dict[str, object]]] = [
    ("CancelProcessInstances", pb.BATCH_OPERATION_TYPE_CANCEL_PROCESS_INSTANCE, {}),
    ("DeleteProcessInstances", pb.BATCH_OPERATION_TYPE_DELETE_PROCESS_INSTANCE, {}),
    ("ResolveIncidents", pb.BATCH_OPERATION_TYPE_RESOLVE_INCIDENT, {}),
    ("EraseVariables", pb.BATCH_OPERATION_TYPE_ERASE_VARIABLES, {}),
    (
        "MigrateProcessInstances",
        pb.BATCH_OPERATION_TYPE_MIGRATE_PROCESS_INSTANCE,
        {"migration_plan": {"target_process_definition_key": 1, "mapping_instructions": [SAME]}},
    ),
    (
        "ModifyProcessInstances",
        pb.BATCH_OPERATION_TYPE_MODIFY_PROCESS_INSTANCE,
        {"move_instructions": [SAME]},
    ),
]


@pytest.mark.parametrize(("operation", "type_", "fields"), CREATIONS, ids=[each[0] for each in CREATIONS])
async def test_a_preview_has_the_number_and_the_keys_and_more_items_than_allowed_begin_nothing(
    caller: Caller, operation: str, type_: int, fields: dict[str, object]
) -> None:
    await caller.deploy(ORDER)
    keys = [await caller.start("order") for _ in range(2)]
    for job in await caller.activate("charge"):
        await caller("FailJob", job_key=job.job_key, retries=0)
    if operation == "ResolveIncidents":
        keys = [each.incident_key for each in (await caller("SearchIncidents")).items]

    preview = await caller("PreviewBatchOperation", batch_operation_type=type_, filter=ORDERS)
    with pytest.raises(InvalidArgument, match=r"at most 1 .*, found 2; .* atMost: 2"):
        await caller(f"{operation}BatchOperation", filter=ORDERS, at_most=1, **fields)

    assert (preview.total_items, sorted(preview.sample_keys)) == (2, sorted(keys))
    assert preview.at_most == BatchesConfig().max_items
    assert not (await caller("SearchBatchOperations")).items
    assert len(await active(caller)) == 2


async def test_a_preview_of_a_deletion_of_decision_instances_names_their_evaluations(caller: Caller) -> None:
    await caller("CreateDeployment", resources=[{"name": "pricing.dmn", "content": graph_xml(*DISCOUNT)}])
    asked = b'{"customer": "regular", "amount": 120}'
    evaluated = await caller("EvaluateDecision", decision_definition_id="discount", variables=asked)
    deletion = {"batch_operation_type": pb.BATCH_OPERATION_TYPE_DELETE_DECISION_INSTANCE}

    preview = await caller("PreviewBatchOperation", **deletion, decision_instance_filter=ALL)
    with pytest.raises(InvalidArgument):
        await caller("PreviewBatchOperation", **deletion, filter=ORDERS)

    assert (preview.total_items, list(preview.sample_keys)) == (2, [evaluated.decision_evaluation_key])


async def test_a_preview_needs_a_condition_and_the_permission_of_its_operation(caller: Caller) -> None:
    cancellation = pb.BATCH_OPERATION_TYPE_CANCEL_PROCESS_INSTANCE

    for nothing in ({}, {"process_instance_key": {"in": []}}):
        with pytest.raises(InvalidArgument, match="at least one condition"):
            await caller("PreviewBatchOperation", batch_operation_type=cancellation, filter=nothing)
    with pytest.raises(PermissionDenied, match="instance:cancel"):
        await caller.signed_in_as("reader")(
            "PreviewBatchOperation", batch_operation_type=cancellation, filter=ORDERS
        )
    unknown = pb.BATCH_OPERATION_TYPE_ADD_VARIABLE
    with pytest.raises(InvalidArgument):
        await caller("PreviewBatchOperation", batch_operation_type=unknown, filter=ORDERS)


async def test_a_caller_raises_the_configured_bound() -> None:
    async with embedded(BatchesConfig(max_items=1)) as running:
        caller = _caller(running)
        await caller.deploy(ORDER)
        for _ in range(2):
            await caller.start("order")

        with pytest.raises(InvalidArgument, match=r"at most 1 process instances, found 2; .* atMost: 2"):
            await caller("CancelProcessInstancesBatchOperation", filter=ORDERS)
        created = await caller("CancelProcessInstancesBatchOperation", filter=ORDERS, at_most=2)
        with pytest.raises(InvalidArgument):
            await caller("CancelProcessInstancesBatchOperation", filter=ORDERS, at_most=MOST_BATCH_ITEMS + 1)

        assert (await ended(caller, created.batch_operation_key)).operations_completed_count == 2


def _allow(call: Call) -> None:
    call.principal = Principal("worker", frozenset({TenantId("default")}), EVERYTHING)


def _caller(running: Running) -> Caller:
    return Caller(LocalChannel(Dispatcher(running.engine.servicers, interceptors(running.mode, _allow))))


async def test_items_are_collected_from_several_pages() -> None:
    count = PAGE_ITEMS + 1
    async with embedded() as running:
        caller = _caller(running)
        await caller.deploy(ORDER)
        for _ in range(count):
            await caller.start("order")

        created = await caller("CancelProcessInstancesBatchOperation", filter=ORDERS)

        batch = await ended(caller, created.batch_operation_key)
        assert (batch.operations_total_count, batch.operations_completed_count) == (count, count)
        assert await active(caller) == set()


async def test_a_batch_operation_is_suspended_resumed_and_cancelled() -> None:
    """Its item is in hand of a partition that does not answer."""
    item = BatchItem(Key(first_key(2) + 1), Key(first_key(2) + 1))
    action = BatchAction(BatchOperationType.CANCEL_PROCESS_INSTANCE)
    async with embedded() as running:
        caller, (partition,) = _caller(running), running.time.partitions
        created = await partition.submit(batch_commands.CreateBatchOperation("default", action))
        assert isinstance(created, BatchOperationCreated)
        await partition.submit(batch_commands.AddBatchItems("default", created.key, (item,)))
        await partition.submit(batch_commands.StartBatchOperation("default", created.key))

        states = []
        for verb in ("Suspend", "Resume", "Cancel"):
            await caller(f"{verb}BatchOperation", batch_operation_key=created.key)
            found = await caller("GetBatchOperation", batch_operation_key=created.key)
            states.append(found.batch_operation.state)

        assert states == [
            pb.BATCH_OPERATION_STATE_SUSPENDED,
            pb.BATCH_OPERATION_STATE_ACTIVE,
            pb.BATCH_OPERATION_STATE_CANCELED,
        ]
