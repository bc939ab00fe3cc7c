import json
from datetime import UTC, datetime

import pytest

from gnomon.engine.v1 import audit_entry_pb2
from gnomon.engine.v1 import audit_log_pb2 as log_pb
from gnomon.engine.v1 import user_task_pb2 as pb
from server.bpmn.builder import process, sub_process
from server.platform.errors import InvalidArgument, InvalidState, NotFound
from tests.server.rpc.caller import Caller
from tests.server.rpc.engines import Time

MIDNIGHT = 1_767_225_600_000  # 2026-01-01T00:00:00Z
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)

REVIEW = (
    process("order", name="Order")
    .start()
    .user_task(
        "review",
        name="Review",
        assignment={"candidateGroups": "sales, legal", "candidateUsers": "=[who]"},
        schedule={"dueDate": "2026-01-01T12:00:00Z"},
        headers={"screen": "wide"},
        inputs={"note": '="read it"'},
    )
    .end()
)


@pytest.fixture
async def task_key(caller: Caller, time: Time) -> int:
    await time.pin(MIDNIGHT)
    await caller.deploy(REVIEW)
    await caller.start("order", b'{"who": "ann", "note": "hidden", "total": 1}')
    (task,) = (await caller("SearchUserTasks")).items
    return int(task.user_task_key)


async def task_of(caller: Caller, key: int) -> pb.UserTask:
    task = (await caller("GetUserTask", user_task_key=key)).user_task
    assert isinstance(task, pb.UserTask)
    return task


async def test_a_user_task_tells_all_that_a_task_list_needs(caller: Caller, task_key: int) -> None:
    task = await task_of(caller, task_key)

    assert (task.name, task.process_name, task.element_id) == ("Review", "Order", "review")
    assert (task.state, task.priority, task.HasField("assignee")) == (pb.USER_TASK_STATE_CREATED, 50, False)
    assert (list(task.candidate_groups), list(task.candidate_users)) == (["sales", "legal"], ["ann"])
    assert task.due_date.ToDatetime(UTC) == NOON
    assert dict(task.custom_headers) == {"screen": "wide"}


async def test_a_person_claims_and_completes_a_user_task(caller: Caller, task_key: int) -> None:
    await caller("AssignUserTask", user_task_key=task_key, assignee="ann", allow_override=False)
    with pytest.raises(InvalidState, match="is assigned already"):
        await caller("AssignUserTask", user_task_key=task_key, assignee="bob", allow_override=False)

    await caller("CompleteUserTask", user_task_key=task_key, variables=b'{"ok": true}')

    task = await task_of(caller, task_key)
    assert (task.assignee, task.state) == ("ann", pb.USER_TASK_STATE_COMPLETED)
    with pytest.raises(NotFound):
        await caller("CompleteUserTask", user_task_key=task_key)


async def test_an_assignment_replaces_another_unless_told_otherwise(caller: Caller, task_key: int) -> None:
    await caller("AssignUserTask", user_task_key=task_key, assignee="ann")

    await caller("AssignUserTask", user_task_key=task_key, assignee="bob")

    assert (await task_of(caller, task_key)).assignee == "bob"


async def test_an_update_changes_and_clears(caller: Caller, task_key: int) -> None:
    changeset = {"due_date": "", "follow_up_date": "2026-01-01T13:00:00+01:00", "candidate_groups": {}}

    await caller("UpdateUserTask", user_task_key=task_key, changeset={**changeset, "priority": 0})

    task = await task_of(caller, task_key)
    assert (task.HasField("due_date"), task.follow_up_date.ToDatetime(UTC)) == (False, NOON)
    assert (list(task.candidate_groups), list(task.candidate_users)) == ([], ["ann"])
    assert task.priority == 0


async def test_an_update_names_a_change_or_an_action(caller: Caller, task_key: int) -> None:
    with pytest.raises(InvalidArgument, match="expected a change, or an action"):
        await caller("UpdateUserTask", user_task_key=task_key)

    await caller("UpdateUserTask", user_task_key=task_key, action="look")


@pytest.mark.parametrize(
    "changeset",
    [
        {"priority": 101},
        {"due_date": "soon"},
        {"due_date": "2026-01-01T12:00:00"},
        {"candidate_users": {"names": [""]}},
    ],
)
async def test_a_change_that_no_user_task_can_have_is_refused(
    caller: Caller, task_key: int, changeset: dict[str, object]
) -> None:
    before = await task_of(caller, task_key)

    with pytest.raises(InvalidArgument):
        await caller("UpdateUserTask", user_task_key=task_key, changeset=changeset)

    assert before == await task_of(caller, task_key)


@pytest.mark.parametrize("assignee", ["", "  ", "a" * 257])
async def test_an_assignee_has_a_name(caller: Caller, task_key: int, assignee: str) -> None:
    with pytest.raises(InvalidArgument):
        await caller("AssignUserTask", user_task_key=task_key, assignee=assignee)


@pytest.mark.parametrize(
    ("wanted", "is_found"),
    [
        ({"candidate_group": {"eq": "legal"}}, True),
        ({"candidate_group": {"eq": "leg"}}, False),
        ({"candidate_group": {"in": ["a", "sales"]}}, True),
        ({"candidate_group": {"neq": "sales"}}, False),
        ({"candidate_group": {"not_in": ["a", "b"]}}, True),
        ({"candidate_group": {"like": "s*s"}}, True),
        ({"candidate_group": {"like": "x*"}}, False),
        ({"candidate_group": {"gt": "s"}}, True),
        ({"candidate_group": {"lt": "l"}}, False),
        ({"candidate_group": {"exists": False}}, False),
        ({"candidate_user": {"exists": True}}, True),
        ({"assignee": {"exists": False}}, True),
        ({"due_date": {"lte": NOON}}, True),
        ({"priority": {"gt": 50}}, False),
        ({"process_instance_variables": [{"name": "total", "value": {"eq": "1"}}]}, True),
        ({"process_instance_variables": [{"name": "note", "value": {"eq": '"read it"'}}]}, False),
        ({"local_variables": [{"name": "note", "value": {"eq": '"read it"'}}]}, True),
        ({"local_variables": [{"name": "total", "value": {"eq": "1"}}]}, False),
        ({"name": {"eq": "Review"}, "element_id": "review", "process_definition_id": "order"}, True),
        ({"tags": ["a"]}, False),
    ],
)
async def test_user_tasks_are_searched(
    caller: Caller, task_key: int, wanted: dict[str, object], *, is_found: bool
) -> None:
    found = await caller("SearchUserTasks", filter=wanted)

    assert [task.user_task_key for task in found.items] == ([task_key] if is_found else [])


@pytest.mark.usefixtures("task_key")
async def test_user_tasks_are_sorted_and_paged(caller: Caller) -> None:
    await caller.start("order", b'{"who": "bob"}')
    first = (await caller("SearchUserTasks")).items[0].user_task_key
    await caller("UpdateUserTask", user_task_key=first, changeset={"priority": 90})
    sort = [{"field": "priority"}]

    one = await caller("SearchUserTasks", sort=sort, page={"limit": 1})
    two = await caller("SearchUserTasks", sort=sort, page={"limit": 1, "after": one.page.end_cursor})

    assert one.page.total_items == 2
    assert [page.items[0].priority for page in (one, two)] == [50, 90]
    assert two.items[0].user_task_key == first


async def test_variables_of_a_user_task_are_those_of_its_scopes(caller: Caller, task_key: int) -> None:
    found = await caller("SearchUserTaskVariables", user_task_key=task_key, filter={"name": {"eq": "note"}})

    assert sorted(item.value for item in found.items) == ['"hidden"', '"read it"']


async def test_effective_variables_are_the_innermost_of_each_name(caller: Caller) -> None:
    inner = sub_process("inner").start().user_task("review", inputs={"a": "=3"}).end()
    await caller.deploy(process("nested").embed(inner, inputs={"a": "=2", "b": "=2"}).end())
    await caller.start("nested", b'{"a": 1, "b": 1, "c": 1}')
    (task,) = (await caller("SearchUserTasks", filter={"process_definition_id": "nested"})).items

    found = await caller(
        "SearchUserTaskEffectiveVariables", user_task_key=task.user_task_key, sort=[{"field": "name"}]
    )

    assert {item.name: item.value for item in found.items} == {"a": "3", "b": "2", "c": "1"}
    assert [item.name for item in found.items] == ["a", "b", "c"]
    assert found.page.total_items == 3


async def test_large_effective_variables_come_on_several_pages(caller: Caller) -> None:
    await caller.deploy(process("large").user_task("review").end())
    text = "x" * 1_600_000
    await caller.start("large", json.dumps({"a": text, "b": text, "c": 1}).encode())
    (task,) = (await caller("SearchUserTasks", filter={"process_definition_id": "large"})).items
    asked = {
        "user_task_key": task.user_task_key,
        "sort": [{"field": "name"}],
        "truncate_values": False,
    }

    first = await caller("SearchUserTaskEffectiveVariables", **asked)
    last = await caller("SearchUserTaskEffectiveVariables", **asked, page={"after": first.page.end_cursor})
    back = await caller(
        "SearchUserTaskEffectiveVariables", **asked, page={"before": last.page.start_cursor, "limit": 1}
    )

    assert [item.name for page in (first, last, back) for item in page.items] == ["a", "b", "c", "b"]
    assert {item.value for item in first.items} == {f'"{text}"'}
    assert {page.page.total_items for page in (first, last, back)} == {3}


async def test_the_audit_log_of_a_user_task_tells_its_changes(caller: Caller, task_key: int) -> None:
    await caller("AssignUserTask", user_task_key=task_key, assignee="ann")
    await caller("UnassignUserTask", user_task_key=task_key)
    await caller("UpdateUserTask", user_task_key=task_key, changeset={"priority": 1})
    await caller("AssignUserTask", user_task_key=task_key, assignee="ann")
    with pytest.raises(InvalidState):
        await caller("AssignUserTask", user_task_key=task_key, assignee="bob", allow_override=False)
    await caller("CompleteUserTask", user_task_key=task_key)

    found = await caller("SearchUserTaskAuditLogs", user_task_key=task_key)

    names = [log_pb.AuditLogOperationType.Name(item.operation_type)[25:] for item in found.items]
    assert names == ["CREATE", "ASSIGN", "UNASSIGN", "UPDATE", "ASSIGN", "ASSIGN", "COMPLETE"]
    assert {item.actor_id for item in found.items} == {"worker"}
    assert {item.user_task_key for item in found.items} == {task_key}
    (place,) = {
        (item.process_definition_key, item.process_instance_key, item.element_instance_key)
        for item in found.items
    }
    assert all(place)
    failed = [item for item in found.items if item.result == audit_entry_pb2.AUDIT_RESULT_FAIL]
    assert failed == [found.items[5]]


async def test_the_audit_log_of_a_user_task_is_searched(caller: Caller, task_key: int) -> None:
    await caller("AssignUserTask", user_task_key=task_key, assignee="ann")

    found = await caller(
        "SearchUserTaskAuditLogs",
        user_task_key=task_key,
        filter={
            "operation_type": {"eq": log_pb.AUDIT_LOG_OPERATION_TYPE_ASSIGN},
            "actor_id": {"eq": "worker"},
        },
        sort=[{"field": "timestamp"}],
    )

    assert [item.operation_type for item in found.items] == [log_pb.AUDIT_LOG_OPERATION_TYPE_ASSIGN]


@pytest.mark.parametrize(
    "rpc",
    [
        "GetUserTask",
        "UnassignUserTask",
        "CompleteUserTask",
        "SearchUserTaskVariables",
        "SearchUserTaskEffectiveVariables",
        "SearchUserTaskAuditLogs",
    ],
)
async def test_a_user_task_that_is_not_there_is_not_found(caller: Caller, rpc: str) -> None:
    with pytest.raises(NotFound):
        await caller(rpc, user_task_key=5)
