"""The full audit log: who asked for what, and what became of it."""

from datetime import timedelta
from itertools import chain
from typing import Any

import pytest

from gnomon.engine.v1 import audit_entry_pb2 as pb
from gnomon.query.v1.page_pb2 import SORT_ORDER_DESC
from server.bpmn.builder import process
from server.partition.audit import AUDITED
from server.platform.errors import InvalidArgument, NotFound, PermissionDenied, ServiceError
from server.platform.policy import policies_of, services
from server.rpc.audit_log_entry import CATEGORIES
from server.store.entities import AuditEntry, AuditResult
from tests.server.rpc.caller import Caller
from tests.server.rpc.durable.deployment import MIDNIGHT, SECOND, Durable, stamp

ORDER = process("order").service_task("charge", type="charge").end()
SUCCESS, FAIL = pb.AUDIT_RESULT_SUCCESS, pb.AUDIT_RESULT_FAIL


@pytest.fixture
async def instance(service: Durable) -> int:
    """Deployed, started a second later, cancelled another second later."""
    await service.caller.deploy(ORDER)
    service.clock.advance(SECOND)
    key = await service.caller.start("order")
    service.clock.advance(SECOND)
    await service.caller("CancelProcessInstance", process_instance_key=key, operation_reference=7)
    return key


async def operations(caller: Caller, **fields: object) -> list[str]:
    found = await caller("ListAuditEntries", **fields)
    return [f"{item.entity_type} {item.operation_type}" for item in found.items]


async def refused(service: Durable, rpc: str, fields: dict[str, object], *, by: str = "worker") -> Any:
    """The one entry that a refused command left, and its refusal."""
    with pytest.raises(ServiceError) as caught:
        await service.caller.signed_in_as(by)(rpc, **fields)
    await service.write_log()
    (item,) = (await service.caller("ListAuditEntries", result=FAIL)).items
    assert (item.reason, item.detail) == (caught.value.reason, caught.value.detail)
    return item


async def test_an_entry_says_who_did_what_to_what_and_when(caller: Caller, instance: int) -> None:
    (*_, started, entry) = (await caller("ListAuditEntries")).items

    assert entry == pb.AuditEntry(
        audit_entry_key=entry.audit_entry_key,
        timestamp=stamp(MIDNIGHT + 2 * SECOND),
        operation_type="CANCEL",
        result=SUCCESS,
        entity_type="PROCESS_INSTANCE",
        entity_key=instance,
        category=pb.AUDIT_CATEGORY_DEPLOYED_RESOURCES,
        actor_type="CLIENT",
        actor_id="worker",
        tenant_id="default",
        process_definition_key=started.process_definition_key,
        process_instance_key=instance,
        root_process_instance_key=instance,
        operation_reference=7,
        request_id=entry.request_id,
    )
    assert entry.request_id


async def test_a_deletion_of_history_is_audited(caller: Caller, instance: int) -> None:
    await caller("DeleteProcessInstance", process_instance_key=instance, operation_reference=8)

    (*_, entry) = (await caller("ListAuditEntries", process_instance_key=instance)).items

    assert (entry.entity_type, entry.operation_type, entry.result) == ("PROCESS_INSTANCE", "DELETE", SUCCESS)
    assert (entry.entity_key, entry.operation_reference) == (instance, 8)


async def test_a_migration_is_audited(caller: Caller) -> None:
    target = await caller.deploy(ORDER)
    instance = await caller.start("order")

    await caller(
        "AcceptMigration",
        process_instance_key=instance,
        target_process_definition_key=target,
        mapping_instructions=[{"source_element_id": "charge", "target_element_id": "charge"}],
    )

    (entry,) = (await caller("ListAuditEntries", operation_type="MIGRATE")).items
    assert (entry.entity_type, entry.entity_key, entry.process_instance_key) == (
        "PROCESS_INSTANCE",
        instance,
        instance,
    )


@pytest.mark.usefixtures("instance")
async def test_the_log_begins_with_the_oldest_unless_it_is_turned_round(caller: Caller) -> None:
    expected = ["RESOURCE CREATE", "PROCESS_INSTANCE CREATE", "PROCESS_INSTANCE CANCEL"]

    assert expected == await operations(caller)
    assert expected[::-1] == await operations(caller, sort_order=SORT_ORDER_DESC)


@pytest.mark.usefixtures("instance")
@pytest.mark.parametrize(
    ("fields", "count"),
    [
        ({"operation_type": "CREATE"}, 2),
        ({"operation_type": "create"}, 0),
        ({"result": SUCCESS}, 3),
        ({"result": FAIL}, 0),
        ({"actor_id": "worker"}, 3),
        ({"actor_id": "reader"}, 0),
        ({"actor_type": "USER"}, 0),
        ({"entity_type": "PROCESS_INSTANCE", "operation_type": "CREATE"}, 1),
        ({"from": MIDNIGHT + SECOND}, 2),
        ({"to": MIDNIGHT + SECOND}, 1),
        ({"from": MIDNIGHT + SECOND, "to": MIDNIGHT + 2 * SECOND}, 1),
    ],
    ids=str,
)
async def test_filters_all_have_to_hold(caller: Caller, fields: dict[str, object], count: int) -> None:
    assert len(await operations(caller, **fields)) == count


@pytest.mark.parametrize("name", ["entity_key", "process_instance_key"])
async def test_the_entries_of_one_entity_are_found(caller: Caller, instance: int, name: str) -> None:
    await caller.start("order")

    assert await operations(caller, **{name: instance}) == [
        "PROCESS_INSTANCE CREATE",
        "PROCESS_INSTANCE CANCEL",
    ]


@pytest.mark.parametrize("order", [0, SORT_ORDER_DESC])
async def test_a_cursor_leads_from_page_to_page(caller: Caller, instance: int, order: int) -> None:
    assert instance
    whole = (await caller("ListAuditEntries", sort_order=order)).items
    found: list[Any] = []
    cursor: dict[str, str] = {}
    for _ in range(2):
        page = await caller("ListAuditEntries", sort_order=order, limit=2, **cursor)
        found += page.items
        cursor = {"cursor": page.cursor}

    last = await caller("ListAuditEntries", sort_order=order, limit=2, **cursor)

    assert list(whole) == found
    assert (list(last.items), last.HasField("cursor")) == ([], False)


@pytest.mark.parametrize(
    "fields",
    [
        {"limit": 0},
        {"limit": 501},
        {"cursor": "abc"},
        {"entity_id": ""},
        {"result": 9},
        {"from": {"seconds": 2**60}},
    ],
    ids=str,
)
async def test_malformed_questions_are_refused(caller: Caller, fields: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument):
        await caller("ListAuditEntries", **fields)


async def test_a_tenant_reads_its_own_log_alone(caller: Caller, instance: int) -> None:
    assert await operations(caller.signed_in_as("stranger"), entity_key=instance) == []


async def test_reading_the_log_needs_a_permission(caller: Caller) -> None:
    with pytest.raises(PermissionDenied):
        await caller.signed_in_as("reader")("ListAuditEntries")


def test_every_kind_of_entity_belongs_to_somebody() -> None:
    policies = chain.from_iterable(policies_of(service).values() for service in services())
    rules = [policy.audit for policy in policies if policy.audit]
    of_identity = {rule.entity_type for rule in rules}
    assert {audited.entity_type for audited in AUDITED.values()} | of_identity == CATEGORIES.keys()


# Changes of identity


async def test_the_entries_of_an_entity_of_identity_are_found_by_its_id(service: Durable) -> None:
    for name in ("clerk", "boss"):
        await service.router.note([assignment(name)])

    (entry,) = (await service.caller("ListAuditEntries", entity_id="boss")).items

    assert entry == pb.AuditEntry(
        audit_entry_key=entry.audit_entry_key,
        timestamp=stamp(MIDNIGHT),
        operation_type="ASSIGN",
        result=SUCCESS,
        entity_type="ROLE",
        entity_id="boss",
        related_entity_type="GROUP",
        related_entity_id="staff",
        category=pb.AUDIT_CATEGORY_ADMIN,
        actor_type="USER",
        actor_id="alice",
        tenant_id="default",
        request_id="r-1",
    )


def assignment(role: str) -> AuditEntry:
    return AuditEntry(
        tenant_id="default",
        timestamp=MIDNIGHT,
        operation_type="ASSIGN",
        result=AuditResult.SUCCESS,
        actor_type="USER",
        actor_id="alice",
        entity_type="ROLE",
        entity_id=role,
        related_entity_type="GROUP",
        related_entity_id="staff",
        request_id="r-1",
    )


# Refused commands


async def test_what_the_engine_refuses_is_in_the_log_once(service: Durable) -> None:
    with pytest.raises(NotFound):
        await service.caller("CancelProcessInstance", process_instance_key=42)

    (entry,) = (await service.caller("ListAuditEntries")).items

    assert (entry.operation_type, entry.result, entry.reason) == ("CANCEL", FAIL, "NOT_FOUND")
    assert (entry.entity_key, entry.process_instance_key) == (42, 42)
    assert entry.detail == "no active process instance with key 42"


async def test_a_command_without_its_permission_is_in_the_log(service: Durable) -> None:
    service.clock.advance(timedelta(microseconds=1_500_789))

    entry = await refused(service, "CancelProcessInstance", {"process_instance_key": 9}, by="reader")

    assert (entry.actor_id, entry.reason, entry.tenant_id) == ("reader", "PERMISSION_DENIED", "default")
    assert (entry.entity_type, entry.operation_type, entry.entity_key) == ("PROCESS_INSTANCE", "CANCEL", 9)
    assert entry.timestamp == stamp(MIDNIGHT + 1.5 * SECOND)


@pytest.mark.parametrize(
    ("rpc", "fields", "what"),
    [
        pytest.param("FailJob", {"job_key": 5, "retry_back_off": -1}, ("JOB", "FAIL", 5), id="out of bounds"),
        pytest.param("CompleteJob", {"job_key": -5}, ("JOB", "COMPLETE", 0), id="no key at all"),
        pytest.param(
            "CompleteJob",
            {"job_key": 5, "variables": b"[]"},
            ("JOB", "COMPLETE", 5),
            id="malformed variables",
        ),
        pytest.param(
            "CreateDeployment",
            {"resources": [{"name": "a.txt", "content": b"\xff"}]},
            ("RESOURCE", "CREATE", 0),
            id="unfit resource",
        ),
        pytest.param(
            "CreateProcessInstance",
            {"process_definition_id": "order", "tenant_id": "other"},
            ("PROCESS_INSTANCE", "CREATE", 0),
            id="another tenant",
        ),
    ],
)
async def test_what_is_refused_before_a_partition_has_it_is_in_the_log(
    service: Durable, rpc: str, fields: dict[str, object], what: tuple[str, str, int]
) -> None:
    entry = await refused(service, rpc, fields)

    assert what == (entry.entity_type, entry.operation_type, entry.entity_key)
    assert entry.HasField("entity_key") == bool(what[2])


async def test_each_of_several_commands_is_in_the_log(service: Durable) -> None:
    completions = [{"job_key": 5, "variables": b"[]"}, {"job_key": 6}]

    await service.caller("CompleteJobs", completions=completions)
    await service.write_log()
    entries = (await service.caller("ListAuditEntries")).items

    found = {(entry.operation_type, entry.result, entry.entity_key, entry.reason) for entry in entries}
    assert found == {("COMPLETE", FAIL, 5, "INVALID_ARGUMENT"), ("COMPLETE", FAIL, 6, "NOT_FOUND")}


async def test_each_of_several_creations_is_in_the_log(service: Durable) -> None:
    creations = [{"process_definition_id": "unknown"}, {"process_definition_id": "a", "tenant_id": "other"}]

    await service.caller("CreateProcessInstances", creations=creations)
    await service.write_log()
    entries = (await service.caller("ListAuditEntries")).items

    found = {(entry.entity_type, entry.operation_type, entry.result, entry.reason) for entry in entries}
    assert found == {
        ("PROCESS_INSTANCE", "CREATE", FAIL, "NOT_FOUND"),
        ("PROCESS_INSTANCE", "CREATE", FAIL, "PERMISSION_DENIED"),
    }


async def test_several_commands_that_are_refused_together_are_in_the_log_once(service: Durable) -> None:
    entry = await refused(service, "CompleteJobs", {"completions": [{"job_key": 5}]}, by="reader")

    assert (entry.entity_type, entry.operation_type, entry.reason) == ("JOB", "COMPLETE", "PERMISSION_DENIED")
    assert not entry.HasField("entity_key")


async def test_reads_and_strangers_without_a_credential_leave_nothing(service: Durable) -> None:
    caller = service.caller
    for who, rpc in (
        (caller.signed_in_as("reader"), "GetLintRules"),
        (caller.signed_in_as(""), "ResolveIncident"),
    ):
        with pytest.raises(ServiceError):
            await who(rpc)
    with pytest.raises(PermissionDenied):
        await caller.signed_in_as("reader")("ResolveIncident", incident_key=3)

    entries = await service.waiting.first(10)

    assert [(entry.entity_type, entry.entity_key) for entry in entries] == [("INCIDENT", 3)]


async def test_who_acts_in_several_tenants_and_names_none_leaves_nothing(service: Durable) -> None:
    traveller = service.caller.signed_in_as("traveller")
    with pytest.raises(InvalidArgument, match="x-tenant-id"):
        await traveller("ResolveIncident", incident_key=1)
    with pytest.raises(PermissionDenied):
        await service.caller.signed_in_as("reader")("ResolveIncident", incident_key=2)

    entries = await service.waiting.first(10)

    assert [entry.entity_key for entry in entries] == [2]


async def test_a_long_detail_is_cut(service: Durable) -> None:
    files = [{"name": f"{'x' * 500}.txt", "content": b"\xff"} for _ in range(10)]
    with pytest.raises(InvalidArgument) as caught:
        await service.caller("CreateDeployment", resources=files)

    (entry,) = await service.waiting.first(10)

    assert entry.detail == caught.value.detail[:2_000]
    assert len(caught.value.detail) > 2_000
