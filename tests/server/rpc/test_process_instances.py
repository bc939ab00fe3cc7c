import asyncio
from typing import Any

import pytest

from gnomon.engine.v1 import process_instance_pb2 as pb
from server.bpmn.builder import process
from server.platform.errors import (
    DeadlineExceeded,
    InvalidArgument,
    InvalidState,
    ModeNotSupported,
    NotFound,
    PermissionDenied,
    TenantMismatch,
    Unauthenticated,
)
from server.platform.policy import Mode
from tests.server.rpc.caller import Caller

ORDER = process("order", name="Order").start().service_task("charge", type="charge").end()
SHORT = process("short").start().end()


async def test_an_instance_is_started_by_the_key_of_its_definition(caller: Caller) -> None:
    key = await caller.deploy(ORDER)

    created = await caller(
        "CreateProcessInstance", process_definition_key=key, tags=["red"], business_id="b-1"
    )

    assert created.process_definition_key == key
    assert created.process_definition_version == 1
    assert (list(created.tags), created.business_id, created.variables) == (["red"], "b-1", b"{}")


async def test_an_older_version_can_be_started(caller: Caller) -> None:
    first = await caller.deploy(process("p").start().end())
    await caller.deploy(process("p").start().task("more").end())

    latest = await caller("CreateProcessInstance", process_definition_id="p", process_definition_version=-1)
    older = await caller("CreateProcessInstance", process_definition_id="p", process_definition_version=1)

    assert latest.process_definition_version == 2
    assert older.process_definition_key == first


async def test_an_instance_begins_where_it_is_told(caller: Caller) -> None:
    await caller.deploy(ORDER)
    start = [{"element_id": "charge"}]

    created = await caller("CreateProcessInstance", process_definition_id="order", start_instructions=start)

    of_it = {"process_instance_key": {"eq": created.process_instance_key}}
    found = await caller("SearchElementInstances", filter=of_it)
    assert [item.element_id for item in found.items if item.element_id != "order"] == ["charge"]


async def test_an_instance_is_terminated_after_an_element(caller: Caller) -> None:
    await caller.deploy(ORDER)
    until = [{"type": "TERMINATE_PROCESS_INSTANCE", "after_element_id": "charge"}]
    created = await caller("CreateProcessInstance", process_definition_id="order", runtime_instructions=until)

    (job,) = await caller.activate("charge")
    await caller("CompleteJob", job_key=job.job_key)

    found = await caller("GetProcessInstance", process_instance_key=created.process_instance_key)
    assert found.process_instance.state == pb.PROCESS_INSTANCE_STATE_TERMINATED


@pytest.mark.parametrize(
    ("instructions", "named"),
    [
        ({"start_instructions": [{"element_id": "none"}]}, "no element 'none' to activate"),
        ({"start_instructions": [{"element_id": "a"}] * 1001}, "startInstructions"),
        ({"runtime_instructions": [{"after_element_id": "none"}]}, "no element 'none' after which"),
        ({"runtime_instructions": [{"type": "x", "after_element_id": "charge"}]}, "runtimeInstructions"),
    ],
    ids=["element", "number", "last element", "type"],
)
async def test_an_instruction_that_cannot_be_followed_is_refused(
    caller: Caller, instructions: dict[str, object], named: str
) -> None:
    await caller.deploy(ORDER)

    with pytest.raises(InvalidArgument, match=named):
        await caller("CreateProcessInstance", process_definition_id="order", **instructions)

    assert (await caller("SearchProcessInstances")).page.total_items == 0


async def test_an_awaited_instance_answers_with_its_variables(caller: Caller) -> None:
    await caller.deploy(SHORT)

    created = await caller(
        "CreateProcessInstance",
        process_definition_id="short",
        variables=b'{"a": 1, "b": [true, null]}',
        await_completion=True,
        fetch_variables=["b"],
    )

    assert created.variables == b'{"b":[true,null]}'


async def test_an_awaited_instance_answers_when_its_job_is_completed(caller: Caller) -> None:
    await caller.deploy(ORDER)
    awaiting = asyncio.ensure_future(
        caller(
            "CreateProcessInstance",
            process_definition_id="order",
            await_completion=True,
            request_timeout=10_000,
        )
    )
    jobs: list[Any] = []
    while not jobs:
        jobs = await caller.activate("charge")

    await caller("CompleteJob", job_key=jobs[0].job_key, variables=b'{"paid":true}')

    assert (await awaiting).variables == b'{"paid":true}'


async def test_an_instance_that_is_awaited_too_long_goes_on(caller: Caller) -> None:
    await caller.deploy(ORDER)

    with pytest.raises(DeadlineExceeded):
        await caller(
            "CreateProcessInstance", process_definition_id="order", await_completion=True, request_timeout=200
        )

    (job,) = await caller.activate("charge")
    await caller("CompleteJob", job_key=job.job_key)
    found = await caller("GetProcessInstance", process_instance_key=job.process_instance_key)
    assert found.process_instance.state == pb.PROCESS_INSTANCE_STATE_COMPLETED


async def test_awaiting_an_instance_that_is_cancelled_ends(caller: Caller) -> None:
    await caller.deploy(ORDER)
    awaiting = asyncio.ensure_future(
        caller(
            "CreateProcessInstance",
            process_definition_id="order",
            await_completion=True,
            request_timeout=10_000,
        )
    )
    jobs: list[Any] = []
    while not jobs:
        jobs = await caller.activate("charge")

    await caller("CancelProcessInstance", process_instance_key=jobs[0].process_instance_key)

    with pytest.raises(InvalidState):
        await awaiting


async def test_a_cancelled_instance_has_ended_and_its_job_is_gone(caller: Caller) -> None:
    await caller.deploy(ORDER)
    key = await caller.start("order")
    (job,) = await caller.activate("charge")

    await caller("CancelProcessInstance", process_instance_key=key)

    found = (await caller("GetProcessInstance", process_instance_key=key)).process_instance
    assert found.state == pb.PROCESS_INSTANCE_STATE_TERMINATED
    assert found.HasField("end_date")
    with pytest.raises(NotFound):
        await caller("CompleteJob", job_key=job.job_key)
    with pytest.raises(NotFound):
        await caller("CancelProcessInstance", process_instance_key=key)


async def test_a_started_instance_is_found_by_every_property_that_it_shows(caller: Caller) -> None:
    await caller.deploy(ORDER)
    key = await caller.start("order")

    found = await caller(
        "SearchProcessInstances",
        filter={
            "process_instance_key": {"eq": key},
            "process_definition_name": {"like": "Ord*"},
            "state": {"eq": pb.PROCESS_INSTANCE_STATE_ACTIVE},
            "has_incident": False,
        },
    )

    assert found.page.total_items == 1
    assert found.items[0].process_instance_key == key


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({}, InvalidArgument, id="no selector"),
        pytest.param(
            {"process_definition_id": "p", "process_definition_key": 1}, InvalidArgument, id="two selectors"
        ),
        pytest.param({"process_definition_id": "nobody"}, NotFound, id="unknown id"),
        pytest.param({"process_definition_key": 5}, NotFound, id="unknown key"),
        pytest.param(
            {"process_definition_id": "order", "process_definition_version": 9},
            NotFound,
            id="unknown version",
        ),
        pytest.param(
            {"process_definition_id": "order", "process_definition_version": 0},
            InvalidArgument,
            id="version 0",
        ),
        pytest.param(
            {"process_definition_id": "order", "variables": b"[1]"}, InvalidArgument, id="no object"
        ),
        pytest.param(
            {"process_definition_id": "order", "variables": b'{"a":' + b"[" * 10_000},
            InvalidArgument,
            id="open brackets",
        ),
        pytest.param(
            {"process_definition_id": "order", "tags": ["a b"]}, InvalidArgument, id="tag with a space"
        ),
        pytest.param(
            {"process_definition_id": "order", "tenant_id": "other"}, TenantMismatch, id="another tenant"
        ),
    ],
)
async def test_a_start_that_cannot_be_is_refused(
    caller: Caller, fields: dict[str, object], expected: type[Exception]
) -> None:
    await caller.deploy(ORDER)

    with pytest.raises(expected if expected is not TenantMismatch else PermissionDenied):
        await caller("CreateProcessInstance", **fields)

    assert (await caller("SearchProcessInstances")).page.total_items == 0


async def test_another_tenant_sees_nothing(caller: Caller) -> None:
    await caller.deploy(ORDER)
    key = await caller.start("order")
    stranger = caller.signed_in_as("stranger")

    with pytest.raises(NotFound):
        await stranger("GetProcessInstance", process_instance_key=key)
    with pytest.raises(NotFound):
        await stranger.start("order")
    assert (await stranger("SearchProcessInstances")).page.total_items == 0
    assert await stranger.activate("charge") == []


async def test_a_caller_without_the_permission_is_refused(caller: Caller) -> None:
    with pytest.raises(PermissionDenied):
        await caller.signed_in_as("reader").deploy(ORDER)


async def test_a_caller_that_nobody_knows_is_refused(caller: Caller) -> None:
    with pytest.raises(Unauthenticated):
        await caller.signed_in_as("nobody").deploy(ORDER)


NOT_OFFERED = {
    Mode.EMBEDDED: ("AcceptCancellation", {"process_instance_key": 5}),
    Mode.BUNDLED: ("PinClock", {"timestamp": 0}),
}


async def test_what_the_mode_does_not_offer_says_so_before_it_asks_for_permission(
    caller: Caller, mode: Mode
) -> None:
    rpc, fields = NOT_OFFERED[mode]

    with pytest.raises(ModeNotSupported) as refusal:
        await caller.signed_in_as("reader")(rpc, **fields)

    assert refusal.value.metadata == {"mode": mode}


async def test_what_the_mode_does_not_offer_asks_for_a_credential_first(caller: Caller, mode: Mode) -> None:
    rpc, fields = NOT_OFFERED[mode]

    with pytest.raises(Unauthenticated):
        await caller.signed_in_as("nobody")(rpc, **fields)


async def test_variables_are_set_at_an_element_instance_or_a_process_instance(caller: Caller) -> None:
    await caller.deploy(ORDER)
    key = await caller.start("order", b'{"total":5}')
    (task,) = (await caller("SearchElementInstances", filter={"element_id": {"eq": "charge"}})).items

    await caller("CreateElementInstanceVariables", element_instance_key=key, variables=b'{"total":6}')
    await caller(
        "CreateElementInstanceVariables",
        element_instance_key=task.element_instance_key,
        variables=b'{"total":7}',
        local=True,
    )

    found = await caller("SearchVariables", filter={"process_instance_key": {"eq": key}})
    assert {(row.scope_key, row.value) for row in found.items} == {
        (key, "6"),
        (task.element_instance_key, "7"),
    }


async def test_variables_are_not_set_at_an_element_instance_that_ended(caller: Caller) -> None:
    await caller.deploy(ORDER)
    key = await caller.start("order")
    (start,) = (
        await caller("SearchElementInstances", filter={"state": {"eq": "ELEMENT_INSTANCE_STATE_COMPLETED"}})
    ).items

    for ended in (start.element_instance_key, key + 100):
        with pytest.raises(NotFound):
            await caller("CreateElementInstanceVariables", element_instance_key=ended, variables=b"{}")


async def test_called_process_instances_are_found_by_their_parents(caller: Caller) -> None:
    await caller.deploy(process("middle").start().call_activity("further", process="order").end())
    await caller.deploy(ORDER)
    await caller.deploy(process("first", name="First").start().call_activity("call", process="middle").end())
    key = await caller.start("first")
    (job,) = await caller.activate("charge")

    of_first = {"parent_process_instance_key": {"eq": key}}
    (middle,) = (await caller("SearchProcessInstances", filter=of_first)).items
    element = (await caller("SearchElementInstances", filter={"element_id": {"eq": "further"}})).items[0]
    of_element = {"parent_element_instance_key": {"eq": element.element_instance_key}}
    (last,) = (await caller("SearchProcessInstances", filter=of_element)).items

    assert (middle.process_definition_id, last.process_definition_id) == ("middle", "order")
    assert last.process_instance_key == job.process_instance_key
    assert last.parent_process_instance_key == middle.process_instance_key
    roots = {each.root_process_instance_key for each in (middle, last, element, job)}
    assert roots == {key}


async def test_the_call_hierarchy_begins_with_the_root(caller: Caller) -> None:
    await caller.deploy(ORDER)
    await caller.deploy(process("first").start().call_activity("call", process="order").end())
    key = await caller.start("first")
    (job,) = await caller.activate("charge")

    found = await caller("GetProcessInstanceCallHierarchy", process_instance_key=job.process_instance_key)

    chain = [(each.process_instance_key, each.process_definition_name) for each in found.process_instances]
    assert chain == [(key, "first"), (job.process_instance_key, "Order")]
    with pytest.raises(NotFound):
        await caller("GetProcessInstanceCallHierarchy", process_instance_key=5)


async def test_a_called_process_instance_is_not_cancelled_alone(caller: Caller) -> None:
    await caller.deploy(ORDER)
    await caller.deploy(process("first").start().call_activity("call", process="order").end())
    key = await caller.start("first")
    (job,) = await caller.activate("charge")

    with pytest.raises(InvalidState, match=f"cancel the root process instance {key} instead"):
        await caller("CancelProcessInstance", process_instance_key=job.process_instance_key)

    await caller("CancelProcessInstance", process_instance_key=key)
    found = await caller("GetProcessInstance", process_instance_key=job.process_instance_key)
    assert found.process_instance.state == pb.PROCESS_INSTANCE_STATE_TERMINATED
