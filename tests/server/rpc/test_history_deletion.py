from typing import Any

import pytest

from server.bpmn.builder import process
from server.platform.errors import InvalidState, NotFound, PermissionDenied
from tests.server.rpc.caller import Caller

ORDER = process("order").service_task("charge", type="charge").user_task("ship").end()
CALLING = process("calling").call_activity("call", process="order").end()

SEARCHES = ("ElementInstances", "Jobs", "Variables", "Incidents")


async def cancelled(caller: Caller, process_id: str = "order") -> int:
    """A process instance that has ended with rows of most kinds."""
    key = await caller.start(process_id, b'{"a":1}')
    (job,) = await caller.activate("charge")
    await caller("FailJob", job_key=job.job_key, retries=0)
    await caller("CancelProcessInstance", process_instance_key=key)
    return key


async def rows(caller: Caller, key: int) -> dict[str, int]:
    """How many a process instance has of each kind that it has some of."""
    of_it = {"process_instance_key": {"eq": key}}
    found: dict[str, Any] = {each: await caller(f"Search{each}", filter=of_it) for each in SEARCHES}
    return {each: page.page.total_items for each, page in found.items() if page.items}


async def deleted(caller: Caller, key: int) -> None:
    await caller("DeleteProcessInstance", process_instance_key=key)


async def test_a_deleted_process_instance_is_gone_with_its_rows(caller: Caller) -> None:
    await caller.deploy(ORDER)
    key, other = await cancelled(caller), await cancelled(caller)
    before = await rows(caller, other)
    assert before == {"ElementInstances": 2, "Jobs": 1, "Variables": 1, "Incidents": 1}

    await deleted(caller, key)

    assert await rows(caller, key) == {}
    assert await rows(caller, other) == before
    found = await caller("SearchProcessInstances", filter={})
    assert [item.process_instance_key for item in found.items] == [other]
    with pytest.raises(NotFound):
        await caller("GetProcessInstance", process_instance_key=key)
    with pytest.raises(NotFound):
        await deleted(caller, key)


async def test_a_deletion_that_is_repeated_with_its_key_has_its_answer(caller: Caller) -> None:
    await caller.deploy(ORDER)
    key = await cancelled(caller)

    for _ in range(2):
        await deleted(caller.with_key("k-1"), key)

    with pytest.raises(NotFound):
        await deleted(caller.with_key("k-2"), key)


async def test_a_process_instance_that_runs_stays(caller: Caller) -> None:
    await caller.deploy(ORDER)
    key = await caller.start("order")

    with pytest.raises(InvalidState, match=f"{key} has not ended"):
        await deleted(caller, key)

    assert await rows(caller, key)


async def test_strangers_and_readers_delete_nothing(caller: Caller) -> None:
    await caller.deploy(ORDER)
    key = await cancelled(caller)

    with pytest.raises(NotFound):
        await deleted(caller.signed_in_as("stranger"), key)
    with pytest.raises(PermissionDenied, match="instance:delete"):
        await deleted(caller.signed_in_as("reader"), key)

    assert await rows(caller, key)


async def test_a_called_process_instance_is_deleted_by_itself(caller: Caller) -> None:
    await caller.deploy(ORDER)
    await caller.deploy(CALLING)
    root = await cancelled(caller, "calling")
    found = await caller("SearchProcessInstances", filter={"parent_process_instance_key": {"eq": root}})
    (called,) = [item.process_instance_key for item in found.items]

    await deleted(caller, root)

    hierarchy = await caller("GetProcessInstanceCallHierarchy", process_instance_key=called)
    assert [each.process_instance_key for each in hierarchy.process_instances] == [called]
    await deleted(caller, called)
    assert not (await caller("SearchProcessInstances", filter={})).items
