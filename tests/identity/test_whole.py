"""Whoever hangs up leaves nothing half done."""

import asyncio
import logging
from dataclasses import dataclass, field

import pytest
from google.protobuf.message import Message

from gnomon.identity.v1 import directory_service_pb2 as directory
from gnomon.identity.v1 import group_service_pb2 as groups
from identity.rpc.whole import Whole
from server.platform.call import Call
from server.platform.dispatch import Dispatcher
from server.platform.errors import NotFound
from tests.waiting import until

GROUPS = groups.DESCRIPTOR.services_by_name["GroupService"]
DIRECTORY = directory.DESCRIPTOR.services_by_name["DirectoryService"]
CREATE = "/gnomon.identity.v1.GroupService/CreateGroup"
AWAIT = "/gnomon.identity.v1.DirectoryService/AwaitDirectoryVersion"
ANSWER = groups.CreateGroupResponse(group=groups.Group(name="readers"))


@dataclass
class Slow:
    """Does two things that belong together, with a pause between them."""

    goes_on: asyncio.Event = field(default_factory=asyncio.Event)
    done: list[str] = field(default_factory=list)
    error: Exception | None = None

    async def create_group(self, _request: Message, _call: Call) -> groups.CreateGroupResponse:
        self.done.append("changed")
        await self.goes_on.wait()
        self.done.append("told")
        if self.error is not None:
            raise self.error
        return ANSWER

    async def await_directory_version(
        self, _request: Message, _call: Call
    ) -> directory.AwaitDirectoryVersionResponse:
        self.done.append("waits")
        try:
            await self.goes_on.wait()
        finally:
            self.done.append("waits no longer")
        return directory.AwaitDirectoryVersionResponse()


def served(slow: Slow, tasks: asyncio.TaskGroup) -> Dispatcher:
    return Dispatcher({GROUPS: Whole(slow, tasks), DIRECTORY: Whole(slow, tasks)}, ())


async def cut_off(slow: Slow, tasks: asyncio.TaskGroup, path: str, request: Message) -> None:
    call = tasks.create_task(served(slow, tasks).dispatch(path, request, {}))
    await until(lambda: slow.done)
    call.cancel()
    await asyncio.wait({call})
    assert call.cancelled()


async def test_a_call_has_its_answer() -> None:
    slow = Slow()
    slow.goes_on.set()

    async with asyncio.TaskGroup() as tasks:
        answer = await served(slow, tasks).dispatch(CREATE, groups.CreateGroupRequest(), {})

    assert answer == ANSWER


async def test_a_refusal_is_its_callers_and_ends_nothing_else() -> None:
    slow = Slow(error=NotFound("there is no such thing"))
    slow.goes_on.set()

    async with asyncio.TaskGroup() as tasks:
        for _ in range(2):
            with pytest.raises(NotFound):
                await served(slow, tasks).dispatch(CREATE, groups.CreateGroupRequest(), {})


async def test_a_call_that_is_cut_off_runs_to_its_end() -> None:
    slow = Slow()

    async with asyncio.TaskGroup() as tasks:
        await cut_off(slow, tasks, CREATE, groups.CreateGroupRequest())
        slow.goes_on.set()

    assert slow.done == ["changed", "told"]


async def test_a_fault_that_nobody_waits_for_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    slow = Slow(error=ZeroDivisionError())

    async with asyncio.TaskGroup() as tasks:
        await cut_off(slow, tasks, CREATE, groups.CreateGroupRequest())
        slow.goes_on.set()

    [record] = caplog.records
    assert record.levelno == logging.ERROR
    assert record.exc_info is not None
    assert record.exc_info[0] is ZeroDivisionError


async def test_who_only_waits_may_hang_up() -> None:
    slow = Slow()

    async with asyncio.TaskGroup() as tasks:
        await cut_off(slow, tasks, AWAIT, directory.AwaitDirectoryVersionRequest())

    assert slow.done == ["waits", "waits no longer"]
