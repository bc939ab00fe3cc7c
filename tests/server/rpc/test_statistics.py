"""Statistics of process instances and their parts, over every channel and in every mode."""

from typing import Any

import pytest

from gnomon.engine.v1 import element_instance_pb2 as elements_pb
from gnomon.engine.v1 import incident_service_pb2 as incidents_pb
from gnomon.engine.v1 import process_definition_service_pb2 as definitions_pb
from server.bpmn.builder import process, sub_process
from server.platform.errors import InvalidArgument, NotFound
from tests.server.rpc.caller import Caller

ORDER = process("order", name="Order").start().service_task("charge", type="charge").end()
STATISTICS = elements_pb.ProcessElementStatistics
ASCENDING, DESCENDING = 1, 2


@pytest.fixture
async def order(caller: Caller) -> int:
    """Key of the process definition."""
    return await caller.deploy(ORDER)


async def failed(caller: Caller, message: str = "declined") -> int:
    """A process instance with an incident."""
    key = await caller.start("order")
    (job,) = await caller.activate("charge", most=1)
    await caller("FailJob", job_key=job.job_key, error_message=message)
    return key


async def completed(caller: Caller) -> int:
    key = await caller.start("order")
    (job,) = await caller.activate("charge", most=1)
    await caller("CompleteJob", job_key=job.job_key)
    return key


async def flows(caller: Caller, key: int) -> list[Any]:
    return list((await caller("GetProcessInstanceSequenceFlows", process_instance_key=key)).items)


async def test_the_sequence_flows_of_a_process_instance_are_those_that_it_has_taken(
    caller: Caller, order: int
) -> None:
    key = await caller.start("order")
    (first,) = await flows(caller, key)
    (job,) = await caller.activate("charge")
    await caller("CompleteJob", job_key=job.job_key)

    taken = await flows(caller, key)

    assert [flow.element_id for flow in taken] == ["charge_to_end", "start_to_charge"]
    assert first == taken[1]
    assert first.sequence_flow_id == f"{key}_start_to_charge"
    assert (first.process_instance_key, first.root_process_instance_key) == (key, key)
    assert (first.process_definition_key, first.process_definition_id) == (order, "order")
    assert first.tenant_id == "default"


@pytest.mark.usefixtures("order")
async def test_element_instances_of_a_process_instance_are_counted_by_element(caller: Caller) -> None:
    key, other = await failed(caller), await completed(caller)

    found = await caller("GetProcessInstanceStatistics", process_instance_key=key)
    ended = await caller("GetProcessInstanceStatistics", process_instance_key=other)

    assert list(found.items) == [
        STATISTICS(element_id="charge", incidents=1),
        STATISTICS(element_id="start", completed=1),
    ]
    assert [item.completed for item in ended.items] == [1, 1, 1]


async def test_element_instances_of_a_process_definition_are_counted_by_element(
    caller: Caller, order: int
) -> None:
    await failed(caller)
    await completed(caller)
    await caller("CancelProcessInstance", process_instance_key=await caller.start("order"))
    running = await caller.start("order", b'{"vip": true}')

    async def counted(**wanted: Any) -> list[Any]:
        found = await caller("GetProcessDefinitionStatistics", process_definition_key=order, filter=wanted)
        return list(found.items)

    everything = [
        STATISTICS(element_id="charge", active=1, completed=1, canceled=1, incidents=1),
        STATISTICS(element_id="end", completed=1),
        STATISTICS(element_id="start", completed=4),
    ]
    assert await counted() == everything
    of_vip = [STATISTICS(element_id="charge", active=1), STATISTICS(element_id="start", completed=1)]
    assert await counted(process_instance_key={"eq": running}) == of_vip
    assert await counted(variables=[{"name": "vip", "value": {"eq": "true"}}]) == of_vip
    either = [{"process_instance_key": {"eq": running}}, {"has_incident": True}]
    assert (await counted(any_of=either))[0] == STATISTICS(element_id="charge", active=1, incidents=1)
    assert await counted(element_id={"eq": "end"}) == [STATISTICS(element_id="end", completed=1)]
    with pytest.raises(InvalidArgument, match="cannot search by"):
        await counted(incident_error_hash_code={"eq": 1})


async def test_incidents_of_an_element_instance_are_those_inside_it(caller: Caller) -> None:
    inside = sub_process("sub").service_task("charge", type="charge")
    await caller.deploy(process("nested").embed(inside).service_task("ship", type="ship").end())
    await caller.start("nested")
    (job,) = await caller.activate("charge")
    await caller("FailJob", job_key=job.job_key)
    found = await caller("SearchElementInstances", filter={"element_id": {"eq": "sub"}})
    (sub,) = found.items

    async def incidents(key: int, **wanted: Any) -> list[int]:
        answer = await caller("SearchElementInstanceIncidents", element_instance_key=key, filter=wanted)
        assert answer.page.total_items == len(answer.items)
        return [item.element_instance_key for item in answer.items]

    assert await incidents(sub.element_instance_key) == [job.element_instance_key]
    assert await incidents(job.element_instance_key) == [job.element_instance_key]
    assert (
        await incidents(sub.element_instance_key, element_instance_key={"eq": sub.element_instance_key}) == []
    )
    start = await caller(
        "SearchElementInstances", filter={"type": {"eq": elements_pb.ELEMENT_INSTANCE_TYPE_START_EVENT}}
    )
    assert [await incidents(item.element_instance_key) for item in start.items] == [[] for _ in start.items]


async def test_incidents_are_paged_while_further_elements_have_some(caller: Caller) -> None:
    inside = sub_process("sub").parallel_gateway("fork").service_task("a", type="charge").end()
    inside.branch("fork").service_task("b", type="charge").end()
    await caller.deploy(process("nested").embed(inside).end())
    await caller.start("nested")
    first, second = await caller.activate("charge")
    await caller("FailJob", job_key=first.job_key)
    (sub,) = (await caller("SearchElementInstances", filter={"element_id": {"eq": "sub"}})).items
    key = sub.element_instance_key
    page = await caller("SearchElementInstanceIncidents", element_instance_key=key, page={"limit": 1})
    await caller("FailJob", job_key=second.job_key)

    after = {"after": page.page.end_cursor}
    rest = await caller("SearchElementInstanceIncidents", element_instance_key=key, page=after)

    found = [item.job_key for item in (*page.items, *rest.items)]
    assert found == [first.job_key, second.job_key]
    assert rest.page.total_items == 2


@pytest.mark.usefixtures("order")
async def test_active_process_instances_are_counted_by_process(caller: Caller) -> None:
    await failed(caller)
    await completed(caller)
    await caller.start("order")
    await caller.deploy(process("order", name="Order 2").service_task("pay", type="pay").end())
    await caller.start("order")
    await caller.deploy(process("other").service_task("pay", type="pay").end())
    await caller.start("other")

    found = await caller("GetProcessDefinitionInstanceStatistics")

    assert found.page.total_items == 2
    assert list(found.items) == [
        definitions_pb.ProcessDefinitionInstanceStatistics(
            process_definition_id="order",
            tenant_id="default",
            latest_process_definition_name="Order 2",
            has_multiple_versions=True,
            active_instances_without_incident_count=2,
            active_instances_with_incident_count=1,
        ),
        definitions_pb.ProcessDefinitionInstanceStatistics(
            process_definition_id="other", tenant_id="default", active_instances_without_incident_count=1
        ),
    ]
    sort = [{"field": "activeInstancesWithIncidentCount", "order": ASCENDING}]
    page = {"limit": 1}
    first = await caller("GetProcessDefinitionInstanceStatistics", sort=sort, page=page)
    assert [item.process_definition_id for item in first.items] == ["other"]
    page = {"limit": 1, "after": first.page.end_cursor}
    second = await caller("GetProcessDefinitionInstanceStatistics", sort=sort, page=page)
    assert [item.process_definition_id for item in second.items] == ["order"]
    offset = await caller("GetProcessDefinitionInstanceStatistics", sort=sort, page={"from": 1})
    assert list(offset.items) == list(second.items)
    beyond = await caller("GetProcessDefinitionInstanceStatistics", page={"from": 7})
    assert (list(beyond.items), beyond.page.total_items) == ([], 2)
    with pytest.raises(InvalidArgument, match="cursor"):
        await caller("GetProcessDefinitionInstanceStatistics", page=page)


async def test_active_process_instances_are_counted_by_version(caller: Caller, order: int) -> None:
    await failed(caller)
    later = await caller.deploy(process("order").service_task("pay", type="pay").end())
    await caller.start("order")
    wanted = {"process_definition_id": "order"}

    found = await caller("GetProcessDefinitionInstanceVersionStatistics", filter=wanted)

    item = definitions_pb.ProcessDefinitionInstanceVersionStatistics
    assert list(found.items) == [
        item(
            process_definition_id="order",
            process_definition_key=order,
            process_definition_name="Order",
            process_definition_version=1,
            tenant_id="default",
            active_instances_with_incident_count=1,
        ),
        item(
            process_definition_id="order",
            process_definition_key=later,
            process_definition_version=2,
            tenant_id="default",
            active_instances_without_incident_count=1,
        ),
    ]
    sort = [{"field": "processDefinitionVersion", "order": DESCENDING}]
    turned = await caller("GetProcessDefinitionInstanceVersionStatistics", filter=wanted, sort=sort)
    assert list(turned.items) == list(reversed(found.items))
    none = {"process_definition_id": "unknown"}
    assert not (await caller("GetProcessDefinitionInstanceVersionStatistics", filter=none)).items


async def test_open_message_subscriptions_are_counted_by_process_definition(caller: Caller) -> None:
    waiting = (
        process("waiting")
        .start_message("begin", message="begin")
        .message_catch("first", message="paid", key="=id")
        .message_catch("second", message="sent", key="=id")
        .end()
    )
    key = await caller.deploy(waiting)
    for number in range(2):
        variables = f'{{"id": "{number}"}}'.encode()
        await caller("CorrelateMessage", name="begin", correlation_key=str(number), variables=variables)
    await caller("CorrelateMessage", name="paid", correlation_key="0")

    async def counted(**wanted: Any) -> list[Any]:
        found = await caller("GetProcessDefinitionMessageSubscriptionStatistics", filter=wanted)
        return list(found.items)

    item = definitions_pb.ProcessDefinitionMessageSubscriptionStatistics(
        process_definition_id="waiting",
        tenant_id="default",
        process_definition_key=key,
        process_instances_with_active_subscriptions=2,
        active_subscriptions=3,
    )
    assert await counted() == [item]
    (of_one,) = await counted(element_id={"eq": "second"})
    assert (of_one.active_subscriptions, of_one.process_instances_with_active_subscriptions) == (1, 1)
    assert await counted(element_id={"eq": "nothing"}) == []


async def test_process_instances_are_counted_by_the_error_of_their_incidents(
    caller: Caller, order: int
) -> None:
    for message in ("declined", "declined", "timeout"):
        await failed(caller, message)

    sort = [{"field": "activeInstancesWithErrorCount", "order": DESCENDING}]
    found = await caller("GetProcessInstanceStatisticsByError", sort=sort)

    counted = [(item.error_message, item.active_instances_with_error_count) for item in found.items]
    assert counted == [("declined", 2), ("timeout", 1)]
    declined, timeout = (item.error_hash_code for item in found.items)
    assert declined != timeout

    wanted = {"error_hash_code": declined}
    by_definition = await caller("GetProcessInstanceStatisticsByDefinition", filter=wanted)

    assert list(by_definition.items) == [
        incidents_pb.IncidentProcessInstanceStatisticsByDefinition(
            process_definition_id="order",
            process_definition_key=order,
            process_definition_name="Order",
            process_definition_version=1,
            tenant_id="default",
            active_instances_with_error_count=2,
        )
    ]
    nobody = await caller("GetProcessInstanceStatisticsByDefinition", filter={"error_hash_code": 1})
    assert (list(nobody.items), nobody.page.total_items) == ([], 0)


@pytest.mark.usefixtures("order")
async def test_a_resolved_incident_counts_no_more(caller: Caller) -> None:
    key = await failed(caller)
    await caller("CancelProcessInstance", process_instance_key=key)

    assert not (await caller("GetProcessInstanceStatisticsByError")).items
    assert not (await caller("GetProcessDefinitionInstanceStatistics")).items


async def test_tenants_count_their_own(caller: Caller, order: int) -> None:
    key = await failed(caller)
    stranger = caller.signed_in_as("stranger")
    lists: dict[str, dict[str, Any]] = {
        "GetProcessDefinitionInstanceStatistics": {},
        "GetProcessDefinitionInstanceVersionStatistics": {"filter": {"process_definition_id": "order"}},
        "GetProcessDefinitionMessageSubscriptionStatistics": {},
        "GetProcessInstanceStatisticsByError": {},
    }
    keys: dict[str, dict[str, Any]] = {
        "GetProcessInstanceStatistics": {"process_instance_key": key},
        "GetProcessInstanceSequenceFlows": {"process_instance_key": key},
        "GetProcessDefinitionStatistics": {"process_definition_key": order},
        "SearchElementInstanceIncidents": {"element_instance_key": key},
    }

    for rpc, fields in lists.items():
        answer = await stranger(rpc, **fields)
        assert (list(answer.items), answer.page.total_items) == ([], 0)
    for rpc, fields in keys.items():
        with pytest.raises(NotFound):
            await stranger(rpc, **fields)
