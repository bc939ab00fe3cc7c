"""Task listeners as their workers and the callers who wait for them see them."""

import asyncio
from typing import Any

import pytest

from gnomon.engine.v1 import audit_entry_pb2, job_pb2
from gnomon.engine.v1 import audit_log_pb2 as log_pb
from gnomon.engine.v1 import user_task_pb2 as pb
from server.bpmn.builder import process
from server.platform.errors import InvalidState
from tests.server.rpc.caller import Caller

ASKED = (
    process("asked")
    .user_task(
        "approve", assignment={"candidateGroups": "sales"}, schedule={"dueDate": "2030-01-01T00:00:00Z"}
    )
    .task_listener("assigning", type="ask")
    .task_listener("completing", type="ask")
    .end()
)


@pytest.fixture
async def task_key(caller: Caller) -> int:
    await caller.deploy(ASKED)
    await caller.start("asked")
    (task,) = (await caller("SearchUserTasks")).items
    return int(task.user_task_key)


@pytest.fixture
def person(caller: Caller) -> Caller:
    """Somebody else than the worker."""
    return caller.signed_in_as("traveller", ("x-tenant-id", "default"))


async def asked(caller: Caller) -> Any:
    """The job of a listener, as soon as it is there."""
    response = await caller(
        "ActivateJobs", type="ask", timeout=60_000, max_jobs_to_activate=1, request_timeout=10_000
    )
    (job,) = response.jobs
    return job


async def test_a_listener_gets_the_user_task_and_corrects_it(
    caller: Caller, person: Caller, task_key: int
) -> None:
    assigning = asyncio.ensure_future(
        person("AssignUserTask", user_task_key=task_key, assignee="ann", action="claim")
    )
    job = await asked(caller)
    (found,) = (await caller("SearchUserTasks", filter={"state": {"eq": pb.USER_TASK_STATE_ASSIGNING}})).items

    corrections = {"assignee": "bob", "due_date": "", "candidate_groups": {}, "priority": 0}
    await caller("CompleteJob", job_key=job.job_key, result={"type": "userTask", "corrections": corrections})

    await assigning
    properties = job.user_task
    assert (job.kind, job.listener_event_type) == (
        job_pb2.JOB_KIND_TASK_LISTENER,
        job_pb2.JOB_LISTENER_EVENT_TYPE_ASSIGNING,
    )
    assert (properties.user_task_key, properties.action, properties.assignee) == (task_key, "claim", "ann")
    assert (list(properties.candidate_groups), list(properties.changed_attributes)) == (
        ["sales"],
        ["assignee"],
    )
    assert (properties.due_date, properties.priority) == ("2030-01-01T00:00:00Z", 50)
    assert found.user_task_key == task_key
    task = (await caller("GetUserTask", user_task_key=task_key)).user_task
    assert (task.assignee, list(task.candidate_groups), task.priority) == ("bob", [], 0)
    assert not task.HasField("due_date")


async def test_a_denial_is_a_refusal_and_is_in_the_audit_log(
    caller: Caller, person: Caller, task_key: int
) -> None:
    completing = asyncio.ensure_future(
        person("CompleteUserTask", user_task_key=task_key, variables=b'{"ok": true}')
    )
    job = await asked(caller)
    assert job.variables == b'{"ok":true}'

    await caller("CompleteJob", job_key=job.job_key, result={"denied": True, "denied_reason": "too early"})

    with pytest.raises(InvalidState, match="too early"):
        await completing
    found = await caller("SearchUserTaskAuditLogs", user_task_key=task_key)
    (_, entry) = found.items
    assert (entry.operation_type, entry.result) == (
        log_pb.AUDIT_LOG_OPERATION_TYPE_COMPLETE,
        audit_entry_pb2.AUDIT_RESULT_FAIL,
    )
    assert entry.actor_id == "traveller"
    (shown,) = (await caller("SearchJobs", filter={"is_denied": True})).items
    assert (shown.job_key, shown.denied_reason) == (job.job_key, "too early")


async def test_the_audit_log_tells_who_asked_and_who_corrected(
    caller: Caller, person: Caller, task_key: int
) -> None:
    completing = asyncio.ensure_future(person("CompleteUserTask", user_task_key=task_key))
    job = await asked(caller)

    await caller("CompleteJob", job_key=job.job_key, result={"corrections": {"priority": 1}})

    await completing
    found = await caller("SearchUserTaskAuditLogs", user_task_key=task_key)
    names = [log_pb.AuditLogOperationType.Name(item.operation_type)[25:] for item in found.items]
    assert names == ["CREATE", "UPDATE", "COMPLETE"]
    assert [item.actor_id for item in found.items] == ["worker", "worker", "traveller"]
