"""The rows of processes that name a person, in each mode."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from server.app import personal_data
from server.bpmn.builder import process
from server.platform.call import AUTHORIZATION, Call, Principal, TenantId
from server.platform.channels import LocalChannel
from server.platform.dispatch import Dispatcher
from server.platform.errors import InvalidArgument, NotFound, PermissionDenied
from server.platform.interceptors import interceptors
from server.rpc.personal_data import MOST_ROWS
from tests.server.rpc.caller import EVERYTHING, Caller
from tests.server.rpc.engines import Running

APPROVAL = process("approval").start().user_task("approve", assignment={"candidateUsers": "ada, bob"}).end()
DEFAULT = frozenset({TenantId("default")})

PRINCIPALS = {
    "Bearer worker": Principal("worker", DEFAULT, EVERYTHING),
    "Bearer ada": Principal("ada-id", DEFAULT, EVERYTHING, is_person=True),
    "Bearer ada's session": Principal("ada-id", DEFAULT, frozenset(), is_person=True),
    "Bearer ada's application": Principal(
        "ada-id", DEFAULT, frozenset(), is_person=True, oauth_scopes=frozenset({"openid"})
    ),
    "Bearer support as ada": Principal("ada-id", DEFAULT, EVERYTHING, is_person=True, acting="support"),
    "Bearer bob's session": Principal("bob-id", DEFAULT, frozenset(), is_person=True),
    "Bearer reader": Principal("reader", DEFAULT, frozenset({"audit:read", "history:read"})),
    "Bearer stranger": Principal("stranger", frozenset({TenantId("other")}), EVERYTHING),
}


def authenticate(call: Call) -> None:
    """Stands at the port of the real one, which has tests of its own."""
    if call.policy.needs_principal:
        call.principal = PRINCIPALS[call.metadata[AUTHORIZATION]]


class KnownNames:
    """The directory with one user, who has the id `ada-id`."""

    async def of(self, _tenant_id: TenantId, user_id: str) -> Sequence[str]:
        if user_id != "ada-id":
            raise NotFound("there is no such user")
        return ["ada-id", "ada", "ada@example.com"]


@pytest.fixture
def caller(running: Running) -> Caller:
    servicers = {**running.engine.servicers, **personal_data(running.engine, KnownNames())}
    return Caller(LocalChannel(Dispatcher(servicers, interceptors(running.mode, authenticate))))


async def exported(caller: Caller, user_id: str = "ada-id") -> Mapping[str, Sequence[dict[str, Any]]]:
    found = defaultdict(list)
    for page in await pages(caller, user_id):
        for row in page.items:
            found[row.section].append(json.loads(row.content))
    return found


async def pages(caller: Caller, user_id: str = "ada-id") -> Sequence[Any]:
    found = [await caller("ListPersonalData", user_id=user_id)]
    while found[-1].HasField("cursor"):
        found.append(await caller("ListPersonalData", user_id=user_id, cursor=found[-1].cursor))
    return found


async def tasks(caller: Caller) -> list[int]:
    return [int(each.user_task_key) for each in (await caller("SearchUserTasks")).items]


async def test_the_rows_that_name_the_person_are_exported_and_no_others(caller: Caller) -> None:
    await caller.deploy(APPROVAL)
    ada, bob = caller.signed_in_as("ada"), caller.signed_in_as("bob's session")
    own, others = await ada.start("approval"), await caller.start("approval")
    first, second = await tasks(caller)
    await caller("AssignUserTask", user_task_key=first, assignee="ada@example.com")
    await caller("AssignUserTask", user_task_key=second, assignee="bob")
    await ada("CompleteUserTask", user_task_key=first)
    await caller.signed_in_as("support as ada")("CompleteUserTask", user_task_key=second)
    with pytest.raises(PermissionDenied):
        await bob("CompleteUserTask", user_task_key=second)

    found = await exported(caller)

    assert [each["assignee"] for each in found["user_task"]] == ["ada@example.com"]
    assert [each["user_task_key"] for each in found["user_task_as_candidate"]] == [str(first), str(second)]
    assert {each["actor_id"] for each in found["audit_entry"]} == {"ada-id"}
    assert {each["actor_id"] for each in found["audit_entry_about"]} == {"support as ada-id"}
    assert [each["process_instance_key"] for each in found["process_instance"]] == [str(own)]
    assert others not in {int(each["process_instance_key"]) for each in found["process_instance"]}


async def test_a_page_has_a_bounded_number_of_rows(caller: Caller) -> None:
    await caller.deploy(process("short").start().end())
    ada = caller.signed_in_as("ada")
    for _ in range(MOST_ROWS + 20):
        await ada.start("short")

    found = await pages(caller)

    assert [len(page.items) for page in found] == [MOST_ROWS, MOST_ROWS, 40]
    entries, instances = MOST_ROWS + 20, MOST_ROWS + 20
    sections = [row.section for page in found for row in page.items]
    assert (sections.count("audit_entry"), sections.count("process_instance")) == (entries, instances)


async def test_users_with_a_session_read_their_own_rows(caller: Caller) -> None:
    session = caller.signed_in_as("ada's session")

    assert (await session("ListPersonalData", user_id="ada-id")).items == []


@pytest.mark.parametrize(
    "credential", ["ada's application", "bob's session", "reader"], ids=["token", "other", "without identity"]
)
async def test_others_need_all_permissions_to_read(caller: Caller, credential: str) -> None:
    with pytest.raises(PermissionDenied):
        await caller.signed_in_as(credential)("ListPersonalData", user_id="ada-id")


async def test_an_unknown_user_is_not_found(caller: Caller) -> None:
    with pytest.raises(NotFound):
        await caller("ListPersonalData", user_id="nobody")


@pytest.mark.parametrize("cursor", ["x", "9:", ":", "0:x", "²:"])
async def test_a_text_that_is_no_cursor_is_refused(caller: Caller, cursor: str) -> None:
    with pytest.raises(InvalidArgument):
        await caller("ListPersonalData", user_id="ada-id", cursor=cursor)
