"""The audit log as Camunda's clients search it."""

from datetime import UTC
from typing import Any

import pytest
from msgspec.structs import replace

from gnomon.engine.v1 import audit_log_pb2 as pb
from gnomon.engine.v1.audit_entry_pb2 import AUDIT_CATEGORY_DEPLOYED_RESOURCES, AUDIT_RESULT_SUCCESS
from server.bpmn.builder import process
from server.platform.errors import InvalidArgument, NotFound, PermissionDenied
from tests.server.rpc.caller import Caller
from tests.server.rpc.durable.deployment import MIDNIGHT, SECOND, Durable, stamp
from tests.server.rpc.durable.test_audit_log import assignment

WORK = process("order").service_task("charge", type="charge").user_task("check").end()
KEYS = ("job_key", "user_task_key", "decision_evaluation_key", "deployment_key", "resource_key")


@pytest.fixture
async def instance(service: Durable) -> int:
    """A process instance whose job failed and was completed, whose user task is assigned, and that was cancelled."""
    caller = service.caller
    await caller.deploy(WORK)
    service.clock.advance(SECOND)
    key = await caller.start("order")
    (job,) = await caller.activate("charge")
    await caller("FailJob", job_key=job.job_key, retries=1)
    (job,) = await caller.activate("charge")
    await caller("CompleteJob", job_key=job.job_key)
    (task,) = (await caller("SearchUserTasks")).items
    await caller("AssignUserTask", user_task_key=task.user_task_key, assignee="kim")
    service.clock.advance(SECOND)
    await caller("CancelProcessInstance", process_instance_key=key)
    message = replace(assignment(""), entity_type="MESSAGE", operation_type="CREATE", entity_id=None)
    await service.router.note([assignment("clerk"), message])
    return key


def name_of(item: Any) -> str:
    kind = pb.AuditLogOperationType.Name(item.operation_type).removeprefix("AUDIT_LOG_OPERATION_TYPE_")
    return f"{item.entity_type} {kind}"


async def found(caller: Caller, **filters: object) -> list[str]:
    answer = await caller("SearchAuditLogs", filter=filters)
    return [name_of(item) for item in answer.items]


WHOLE = [
    "RESOURCE CREATE",
    "PROCESS_INSTANCE CREATE",
    "JOB UNKNOWN",
    "JOB COMPLETE",
    "USER_TASK CREATE",
    "USER_TASK ASSIGN",
    "PROCESS_INSTANCE CANCEL",
    "USER_TASK CANCEL",
    "ROLE ASSIGN",
]


@pytest.mark.usefixtures("instance")
async def test_it_has_the_kinds_of_entity_that_camunda_has_and_no_messages(caller: Caller) -> None:
    answer = await caller("SearchAuditLogs")

    assert sorted(map(name_of, answer.items)) == sorted(WHOLE)
    assert answer.page.total_items == len(WHOLE)


async def test_an_entry_names_the_key_of_its_entity_by_its_kind(caller: Caller, instance: int) -> None:
    answer = await caller("SearchAuditLogs")
    items = {name_of(item): item for item in answer.items}
    started = items["PROCESS_INSTANCE CREATE"]

    assert {
        name: [key for key in KEYS if item.HasField(key) and str(getattr(item, key)) == item.entity_key]
        for name, item in items.items()
    } == {
        **{name: [] for name in WHOLE},
        "RESOURCE CREATE": ["deployment_key"],
        "JOB UNKNOWN": ["job_key"],
        "JOB COMPLETE": ["job_key"],
        **{name: ["user_task_key"] for name in WHOLE if name.startswith("USER_TASK")},
    }
    assert started == pb.AuditLog(
        audit_log_key=started.audit_log_key,
        entity_key=str(instance),
        entity_type="PROCESS_INSTANCE",
        operation_type=pb.AUDIT_LOG_OPERATION_TYPE_CREATE,
        timestamp=stamp(MIDNIGHT + SECOND),
        actor_id="worker",
        actor_type=pb.AUDIT_LOG_ACTOR_TYPE_CLIENT,
        tenant_id="default",
        result=AUDIT_RESULT_SUCCESS,
        category=AUDIT_CATEGORY_DEPLOYED_RESOURCES,
        process_definition_key=started.process_definition_key,
        process_instance_key=instance,
        root_process_instance_key=instance,
    )
    assert (items["ROLE ASSIGN"].entity_key, items["ROLE ASSIGN"].related_entity_key) == ("clerk", "staff")


@pytest.mark.usefixtures("instance")
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"operation_type": {"eq": pb.AUDIT_LOG_OPERATION_TYPE_COMPLETE}}, ["JOB COMPLETE"]),
        ({"operation_type": {"eq": pb.AUDIT_LOG_OPERATION_TYPE_UNKNOWN}}, ["JOB UNKNOWN"]),
        (
            {"operation_type": {"neq": pb.AUDIT_LOG_OPERATION_TYPE_UNKNOWN}, "entity_type": {"eq": "JOB"}},
            ["JOB COMPLETE"],
        ),
        ({"category": {"eq": 1}}, ["ROLE ASSIGN"]),
        ({"category": {"in": [1, 3]}, "operation_type": {"eq": 1}}, ["ROLE ASSIGN", "USER_TASK ASSIGN"]),
        ({"category": {"not_in": [2, 3]}}, ["ROLE ASSIGN"]),
        ({"category": {"neq": 2}, "actor_id": {"eq": "alice"}}, ["ROLE ASSIGN"]),
        ({"entity_key": {"eq": "clerk"}}, ["ROLE ASSIGN"]),
        ({"entity_key": {"in": ["clerk", "boss"]}}, ["ROLE ASSIGN"]),
        ({"entity_key": {"like": "cl*"}}, ["ROLE ASSIGN"]),
        ({"entity_key": {"neq": "clerk"}, "category": {"eq": 1}}, []),
        ({"related_entity_key": {"eq": "staff"}}, ["ROLE ASSIGN"]),
        ({"job_key": {"exists": True}}, ["JOB COMPLETE", "JOB UNKNOWN"]),
        ({"job_key": {"exists": False}, "operation_type": {"eq": 3}}, []),
        ({"job_key": {"neq": 1}}, WHOLE),
        ({"job_key": {"gt": 1}}, ["JOB COMPLETE", "JOB UNKNOWN"]),
        ({"deployment_key": {"exists": True}}, ["RESOURCE CREATE"]),
        ({"resource_key": {"exists": True}}, []),
        ({"timestamp": {"lt": MIDNIGHT + SECOND}, "actor_type": {"eq": 2}}, ["RESOURCE CREATE"]),
        ({"process_instance_key": {"exists": False}}, ["RESOURCE CREATE", "ROLE ASSIGN"]),
    ],
    ids=str,
)
async def test_filters_ask_for_the_members_of_an_entry(
    caller: Caller, filters: dict[str, object], expected: list[str]
) -> None:
    assert sorted(await found(caller, **filters)) == sorted(expected)


async def test_entities_are_found_by_their_keys(caller: Caller, instance: int) -> None:
    answer = await caller("SearchAuditLogs", filter={"job_key": {"exists": True}})
    (job_key,) = {item.job_key for item in answer.items}

    assert await found(caller, job_key={"eq": job_key}) == ["JOB UNKNOWN", "JOB COMPLETE"]
    assert await found(caller, user_task_key={"eq": job_key}) == []
    assert await found(caller, entity_key={"eq": str(instance)}) == [
        "PROCESS_INSTANCE CREATE",
        "PROCESS_INSTANCE CANCEL",
    ]
    assert len(await found(caller, entity_key={"not_in": [str(instance), "clerk"]})) == len(WHOLE) - 3


@pytest.mark.usefixtures("instance")
async def test_it_begins_with_the_oldest_unless_it_is_sorted(caller: Caller) -> None:
    times = [item.timestamp.ToDatetime(UTC) for item in (await caller("SearchAuditLogs")).items]
    sort = [{"field": "auditLogKey", "order": 2}]
    keys = [item.audit_log_key for item in (await caller("SearchAuditLogs", sort=sort)).items]

    assert times == sorted(times)
    assert keys == sorted(keys, reverse=True)


@pytest.mark.usefixtures("instance")
async def test_cursors_lead_both_ways(caller: Caller) -> None:
    whole = (await caller("SearchAuditLogs")).items
    first = await caller("SearchAuditLogs", page={"limit": 4})
    second = await caller("SearchAuditLogs", page={"limit": 4, "after": first.page.end_cursor})
    back = await caller("SearchAuditLogs", page={"limit": 4, "before": second.page.start_cursor})

    assert [*first.items, *second.items] == list(whole[:8])
    assert back.items == first.items


async def test_an_entry_is_got_by_its_key(caller: Caller, instance: int) -> None:
    (entry, *_) = (await caller("SearchAuditLogs", filter={"process_instance_key": {"eq": instance}})).items

    assert (await caller("GetAuditLog", audit_log_key=entry.audit_log_key)).audit_log == entry


@pytest.mark.usefixtures("instance")
async def test_an_entry_of_another_kind_is_not_there(caller: Caller) -> None:
    (message,) = (await caller("ListAuditEntries", entity_type="MESSAGE")).items

    with pytest.raises(NotFound):
        await caller("GetAuditLog", audit_log_key=message.audit_entry_key)


async def test_a_tenant_reads_its_own_entries_alone(caller: Caller, instance: int) -> None:
    (entry, *_) = (await caller("SearchAuditLogs", filter={"process_instance_key": {"eq": instance}})).items
    stranger = caller.signed_in_as("stranger")

    with pytest.raises(NotFound):
        await stranger("GetAuditLog", audit_log_key=entry.audit_log_key)
    assert await found(stranger, process_instance_key={"eq": instance}) == []


@pytest.mark.parametrize("rpc", ["SearchAuditLogs", "GetAuditLog"])
async def test_reading_it_needs_a_permission(caller: Caller, rpc: str) -> None:
    with pytest.raises(PermissionDenied):
        await caller.signed_in_as("reader")(rpc, **({"audit_log_key": 1} if rpc == "GetAuditLog" else {}))


@pytest.mark.parametrize(
    "filters",
    [
        {"entity_key": {"gt": "a"}},
        {"category": {"like": "A*"}},
        {"operation_type": {"like": "A*"}},
        {"process_definition_id": {"eq": "order"}},
        {"operation_type": {"eq": 99}},
    ],
    ids=str,
)
async def test_what_it_cannot_be_searched_by_is_refused(caller: Caller, filters: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument):
        await caller("SearchAuditLogs", filter=filters)
