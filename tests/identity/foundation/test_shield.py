"""The call shield: a client that disconnects interrupts no change, and an endless call is cancelled."""

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import dataclass, field

import pytest
from google.protobuf.message import Message

from gnomon.identity.v1 import directory_service_pb2 as directory
from gnomon.identity.v1 import group_service_pb2 as groups
from identity.foundation.shield import CallShield, ShieldedServicer, call_shield
from server.platform.call import Call
from server.platform.dispatch import Dispatcher
from server.platform.errors import DeadlineExceeded, NotFound, ResourceExhausted, Unavailable
from tests.waits import PATIENCE_SECONDS, until

GROUPS = groups.DESCRIPTOR.services_by_name["GroupService"]
DIRECTORY = directory.DESCRIPTOR.services_by_name["DirectoryService"]
CREATE = "/gnomon.identity.v1.GroupService/CreateGroup"
AWAIT = "/gnomon.identity.v1.DirectoryService/AwaitDirectoryVersion"
ANSWER = groups.CreateGroupResponse(group=groups.Group(name="readers"))


@dataclass
class Slow:
    """A servicer that does two related things with a pause between them."""

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


def served(slow: Slow, shield: CallShield) -> Dispatcher:
    servicer = ShieldedServicer(slow, shield)
    return Dispatcher({GROUPS: servicer, DIRECTORY: servicer}, ())


def create(slow: Slow, shield: CallShield) -> Coroutine[None, None, Message]:
    return served(slow, shield).dispatch(CREATE, groups.CreateGroupRequest(), {})


async def begun(slow: Slow, call: Coroutine[None, None, Message]) -> asyncio.Task[Message]:
    task = asyncio.ensure_future(call)
    await until(lambda: slow.done)
    return task


async def cut_off(slow: Slow, call: Coroutine[None, None, Message]) -> None:
    """Begin the call, and disconnect while it runs."""
    task = await begun(slow, call)
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()


async def test_a_call_has_its_answer() -> None:
    slow = Slow()
    slow.goes_on.set()

    async with call_shield() as shield:
        answer = await create(slow, shield)

    assert answer == ANSWER


async def test_a_refusal_is_its_callers_and_ends_nothing_else() -> None:
    slow = Slow(error=NotFound("there is no such thing"))
    slow.goes_on.set()

    async with call_shield() as shield:
        for _ in range(2):
            with pytest.raises(NotFound):
                await create(slow, shield)


async def test_a_call_that_is_cut_off_runs_to_its_end() -> None:
    slow = Slow()

    async with call_shield() as shield:
        await cut_off(slow, create(slow, shield))
        slow.goes_on.set()

    assert slow.done == ["changed", "told"]


async def test_a_fault_after_its_caller_is_gone_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    slow = Slow(error=ZeroDivisionError())

    async with call_shield() as shield:
        await cut_off(slow, create(slow, shield))
        slow.goes_on.set()

    [record] = caplog.records
    assert record.levelno == logging.ERROR
    assert record.exc_info is not None
    assert record.exc_info[0] is ZeroDivisionError


async def test_a_call_that_only_waits_ends_with_its_caller() -> None:
    slow = Slow()

    async with call_shield() as shield:
        waiting = served(slow, shield).dispatch(AWAIT, directory.AwaitDirectoryVersionRequest(), {})
        await cut_off(slow, waiting)

    assert slow.done == ["waits", "waits no longer"]


async def test_a_call_without_end_does_not_keep_the_provider_from_stopping(
    caplog: pytest.LogCaptureFixture,
) -> None:
    slow = Slow()

    async with asyncio.timeout(PATIENCE_SECONDS), call_shield(drain_seconds=0.01) as shield:
        await cut_off(slow, create(slow, shield))

    assert slow.done == ["changed"]
    [record] = caplog.records
    assert record.__dict__["calls"] == 1


async def test_a_caller_whose_call_is_cut_off_at_the_end_is_told() -> None:
    slow = Slow()
    async with asyncio.timeout(PATIENCE_SECONDS), call_shield(drain_seconds=0.01) as shield:
        call = await begun(slow, create(slow, shield))

    with pytest.raises(Unavailable):
        await call


async def test_no_call_begins_while_the_provider_stops() -> None:
    slow = Slow()
    async with call_shield() as shield:
        await shield.drain()

        with pytest.raises(Unavailable) as refusal:
            await create(slow, shield)

    assert refusal.value.is_untouched
    assert slow.done == []


async def test_a_call_ends_by_its_deadline(caplog: pytest.LogCaptureFixture) -> None:
    slow = Slow()

    async with asyncio.timeout(PATIENCE_SECONDS), call_shield(call_seconds=0.01) as shield:
        with pytest.raises(DeadlineExceeded):
            await create(slow, shield)

    [record] = caplog.records
    assert record.__dict__["rpc"] == CREATE


async def test_no_more_calls_are_left_behind_than_the_bound() -> None:
    slow = Slow()
    async with call_shield(most_calls=1) as shield:
        await cut_off(slow, create(slow, shield))

        with pytest.raises(ResourceExhausted):
            await create(slow, shield)

        slow.goes_on.set()
