"""Global task listeners over every channel, in every mode."""

from typing import Any

import pytest

from gnomon.engine.v1 import global_task_listener_pb2 as entity_pb
from server.bpmn.builder import process
from server.platform.errors import AlreadyExists, InvalidArgument, NotFound, PermissionDenied
from tests.server.rpc.caller import Caller

API = entity_pb.GLOBAL_LISTENER_SOURCE_API


async def create(caller: Caller, listener_id: str, **more: Any) -> entity_pb.GlobalTaskListener:
    fields = {"type": "watch", "event_types": ["all"], **more}
    response = await caller("CreateGlobalTaskListener", id=listener_id, **fields)
    listener: entity_pb.GlobalTaskListener = response.listener
    return listener


async def test_a_listener_is_created_read_changed_and_deleted(caller: Caller) -> None:
    created = await create(caller, "a", event_types=["creating", "canceling"])

    expected = entity_pb.GlobalTaskListener(
        id="a", type="watch", retries=3, priority=50, event_types=["creating", "canceling"], source=API
    )
    assert created == expected
    assert (await caller("GetGlobalTaskListener", id="a")).listener == expected
    with pytest.raises(AlreadyExists):
        await create(caller, "a")

    change = {"type": "see", "event_types": ["all"], "retries": 1, "after_non_global": True, "priority": -7}
    changed = (await caller("UpdateGlobalTaskListener", id="a", **change)).listener
    assert changed == entity_pb.GlobalTaskListener(id="a", source=API, **change)
    assert (await caller("GetGlobalTaskListener", id="a")).listener == changed
    again = (await caller("UpdateGlobalTaskListener", id="a", type="see", event_types=["all"])).listener
    assert (again.retries, again.after_non_global, again.priority) == (3, False, 50)

    await caller("DeleteGlobalTaskListener", id="a")
    for rpc, fields in (("Get", {}), ("Update", {"type": "x", "event_types": ["all"]}), ("Delete", {})):
        with pytest.raises(NotFound):
            await caller(f"{rpc}GlobalTaskListener", id="a", **fields)
    assert (await create(caller, "a")).type == "watch"


async def test_user_tasks_everywhere_ask_a_listener_as_soon_as_it_is_answered(caller: Caller) -> None:
    await caller.deploy(process("p").user_task("approve").end())
    await create(caller, "a", event_types=["creating"])

    instances = {await caller.start("p") for _ in range(4)}

    jobs = await caller.activate("watch")
    assert {job.process_instance_key for job in jobs} == instances
    await caller("DeleteGlobalTaskListener", id="a")
    await caller.start("p")
    assert await caller.activate("watch") == []


async def test_searches_find_those_of_the_tenant(caller: Caller) -> None:
    await create(caller, "a", event_types=["creating", "completing"], priority=7)
    await create(caller, "b", type="see", retries=1)
    await create(caller, "c", after_non_global=True, event_types=["completing"])
    await create(caller.signed_in_as("stranger"), "theirs")

    async def found(*order: Any, **filters: Any) -> str:
        sort = [{"field": field} for field in order or ("id",)]
        answer = await caller("SearchGlobalTaskListeners", filter=filters, sort=sort)
        return "".join(each.id for each in answer.items)

    assert await found() == "abc"
    assert await found("priority", "type") == "abc"
    assert await found("afterNonGlobal", "type") == "bac"
    assert await found(id={"eq": "b"}) == "b"
    assert await found(type={"like": "w*"}) == "ac"
    assert await found(retries={"lt": 3}) == "b"
    assert await found(after_non_global=False) == "ab"
    assert await found(priority={"gte": 50}) == "bc"
    assert await found(source={"eq": API}) == "abc"
    assert await found(source={"eq": entity_pb.GLOBAL_LISTENER_SOURCE_CONFIGURATION}) == ""
    assert await found(event_types=[{"eq": "completing"}]) == "ac"
    assert await found(event_types=[{"eq": "completing"}, {"eq": "creating"}]) == "a"
    assert await found(event_types=[{"in": ["all", "creating"]}]) == "ab"
    assert await found(event_types=[{"neq": "completing"}]) == "b"


async def test_listeners_of_another_tenant_are_not_there(caller: Caller) -> None:
    await create(caller, "a")
    stranger = caller.signed_in_as("stranger")

    for rpc, fields in (("Get", {}), ("Update", {"type": "x", "event_types": ["all"]}), ("Delete", {})):
        with pytest.raises(NotFound):
            await stranger(f"{rpc}GlobalTaskListener", id="a", **fields)
    assert (await create(stranger, "a")).id == "a"


async def test_who_may_not_deploy_changes_none(caller: Caller) -> None:
    await create(caller, "a")
    reader = caller.signed_in_as("reader")

    assert (await reader("GetGlobalTaskListener", id="a")).listener.id == "a"
    with pytest.raises(PermissionDenied):
        await create(reader, "b")
    for rpc, fields in (("Update", {"type": "x", "event_types": ["all"]}), ("Delete", {})):
        with pytest.raises(PermissionDenied):
            await reader(f"{rpc}GlobalTaskListener", id="a", **fields)


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"id": ""}, id="no id"),
        pytest.param({"id": "a b"}, id="a space"),
        pytest.param({"id": "."}, id="this place in paths"),
        pytest.param({"id": ".."}, id="the place above in paths"),
        pytest.param({"id": "n" * 257}, id="a long id"),
        pytest.param({"type": ""}, id="no type"),
        pytest.param({"type": "n" * 257}, id="a long type"),
        pytest.param({"event_types": []}, id="no event"),
        pytest.param({"event_types": ["start"]}, id="an unknown event"),
        pytest.param({"event_types": ["creating", "creating"]}, id="an event twice"),
        pytest.param({"retries": 0}, id="no retries"),
    ],
)
async def test_its_properties_have_bounds(caller: Caller, wrong: dict[str, Any]) -> None:
    fields = {"id": "a", "type": "watch", "event_types": ["all"], **wrong}

    with pytest.raises(InvalidArgument):
        await caller("CreateGlobalTaskListener", **fields)


async def test_the_longest_id_and_type_are_taken(caller: Caller) -> None:
    every = ["all", "creating", "assigning", "updating", "completing", "canceling"]

    listener = await create(caller, "i" * 256, type="t" * 256, event_types=every, retries=2**31 - 1)

    assert (listener.type, list(listener.event_types), listener.retries) == ("t" * 256, every, 2**31 - 1)
