"""In embedded mode the timers of a test run can be seen, and fire before they are due."""

from typing import Any

import pytest

from server.bpmn.builder import process, sub_process
from server.engine.test_runs import TAG
from server.platform.errors import (
    InvalidState,
    ModeNotSupported,
    NotFound,
    PermissionDenied,
    ServiceError,
)
from server.rpc.timer import MOST_TIMERS
from tests.server.rpc.caller import Caller
from tests.server.rpc.conftest import CHANNELS

REMINDER = process("reminder").timer_catch("wait", duration="P1D").end()
NAMED = REMINDER.to_xml().replace(b'id="wait"', b'id="wait" name="Wait a day"')

in_embedded_mode = pytest.mark.parametrize(
    "setup", [pytest.param(("embedded_engine", name), id=name) for name in CHANNELS], indirect=True
)
in_bundled_mode = pytest.mark.parametrize(
    "setup", [pytest.param(("bundled_engine", "local"), id="bundled")], indirect=True
)


async def tried(caller: Caller, *tags: str) -> int:
    """Key of a new instance that waits for a timer."""
    await caller("CreateDeployment", resources=[{"name": "reminder.bpmn", "content": NAMED}])
    created = await caller("CreateProcessInstance", process_definition_id="reminder", tags=tags)
    return int(created.process_instance_key)


async def waiting(caller: Caller, key: int) -> Any:
    return await caller("ListTimers", process_instance_key=key)


@in_embedded_mode
async def test_a_test_run_goes_on_when_its_timer_is_fired(caller: Caller) -> None:
    key = await tried(caller, TAG)
    before = await waiting(caller, key)

    await caller("FireTimer", process_instance_key=key, timer_key=before.timers[0].timer_key)

    (timer,) = before.timers
    found = (await caller("GetProcessInstance", process_instance_key=key)).process_instance
    assert before.is_test_run
    assert (timer.element_id, timer.element_name, timer.repetitions) == ("wait", "Wait a day", 1)
    assert timer.due_date.seconds - found.start_date.seconds == 24 * 3600
    assert found.HasField("end_date")
    assert list((await waiting(caller, key)).timers) == []


@in_embedded_mode
async def test_refusals_say_why_and_change_nothing(caller: Caller) -> None:
    key, plain = await tried(caller, TAG), await tried(caller)
    listed = await waiting(caller, key)
    (timer,), (other,) = listed.timers, (await waiting(caller, plain)).timers
    stranger, reader = caller.signed_in_as("stranger"), caller.signed_in_as("reader")
    refused: list[tuple[Caller, int, int, type[ServiceError], str]] = [
        (caller, plain, other.timer_key, InvalidState, "is not a test run"),
        (caller, key, other.timer_key, NotFound, "waits for no timer with key"),
        (caller, other.timer_key, timer.timer_key, NotFound, "no active process instance"),
        (stranger, key, timer.timer_key, NotFound, "no active process instance"),
        (reader, key, timer.timer_key, PermissionDenied, "instance:create"),
    ]

    for who, instance, fired, error, words in refused:
        with pytest.raises(error, match=words):
            await who("FireTimer", process_instance_key=instance, timer_key=fired)

    assert await waiting(caller, key) == listed
    assert not (await waiting(caller, plain)).is_test_run


@in_embedded_mode
async def test_timers_of_another_tenant_are_not_listed(caller: Caller) -> None:
    key = await tried(caller, TAG)

    with pytest.raises(NotFound):
        await waiting(caller.signed_in_as("stranger"), key)


@in_embedded_mode
async def test_a_firing_with_an_idempotency_key_happens_once(caller: Caller) -> None:
    key = await tried(caller, TAG)
    (timer,) = (await waiting(caller, key)).timers
    again = caller.with_key("fire-once")

    for _ in range(2):
        await again("FireTimer", process_instance_key=key, timer_key=timer.timer_key)


@in_embedded_mode
async def test_a_list_of_many_timers_is_cut_and_says_so(caller: Caller) -> None:
    many = MOST_TIMERS + 20
    each = sub_process("each").start().timer_catch("wait", duration="P1D").end()
    crowd = process("crowd").start().embed(each).multi_instance(f"=for n in 1..{many} return n").end()
    await caller.deploy(crowd)
    created = await caller("CreateProcessInstance", process_definition_id="crowd", tags=[TAG])

    listed = await waiting(caller, created.process_instance_key)

    assert len(listed.timers) == MOST_TIMERS
    assert listed.total_timers == many


@in_bundled_mode
async def test_durable_modes_keep_the_time_of_the_system(caller: Caller) -> None:
    key = await tried(caller, TAG)

    for rpc, fields in (("ListTimers", {}), ("FireTimer", {"timer_key": key})):
        with pytest.raises(ModeNotSupported):
            await caller(rpc, process_instance_key=key, **fields)
