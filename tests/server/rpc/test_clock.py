"""In embedded mode the clock is the caller's."""

import pytest

from server.bpmn.builder import process
from tests.server.rpc.caller import Caller
from tests.server.rpc.conftest import CHANNELS

ORDER = process("order").start().service_task("charge", type="charge").end()
MIDNIGHT = 1_767_225_600_000  # 2026-01-01T00:00:00Z
MINUTE = 60_000

in_embedded_mode = pytest.mark.parametrize(
    "setup", [pytest.param(("embedded_engine", name), id=name) for name in CHANNELS], indirect=True
)


async def _start_second(caller: Caller) -> int:
    key = await caller.start("order")
    found = (await caller("GetProcessInstance", process_instance_key=key)).process_instance
    return int(found.start_date.seconds)


@in_embedded_mode
async def test_what_happens_has_the_time_at_which_the_clock_is_pinned(caller: Caller) -> None:
    await caller.deploy(ORDER)

    await caller("PinClock", timestamp=MIDNIGHT)

    assert await _start_second(caller) == MIDNIGHT // 1000


@in_embedded_mode
async def test_what_is_due_has_happened_when_the_clock_has_moved(caller: Caller) -> None:
    await caller("PinClock", timestamp=MIDNIGHT)
    await caller.deploy(ORDER)
    await caller.start("order")
    (job,) = await caller.activate("charge")

    await caller("PinClock", timestamp=MIDNIGHT + MINUTE)

    assert [again.job_key for again in await caller.activate("charge")] == [job.job_key]


@in_embedded_mode
async def test_the_clock_runs_again_after_a_reset(caller: Caller) -> None:
    await caller.deploy(ORDER)
    await caller("PinClock", timestamp=MIDNIGHT)

    await caller("ResetClock")

    assert await _start_second(caller) > MIDNIGHT // 1000


@in_embedded_mode
async def test_at_the_last_instant_of_the_clock_commands_still_wait_for_later_times(caller: Caller) -> None:
    await caller.deploy(ORDER)
    await caller.start("order")

    await caller("PinClock", timestamp=253_402_300_799_999)

    await caller("PublishMessage", name="paid", correlation_key="o-1", time_to_live=MINUTE)
    jobs = await caller.activate("charge")

    assert len(jobs) == 1
