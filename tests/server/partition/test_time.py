import asyncio
import itertools
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from server.bpmn.builder import ProcessBuilder, process
from server.engine import State, job_commands
from server.engine.limits import ENTERING_STEPS, EngineLimits
from server.engine.process_instance import Job as EngineJob
from server.engine.process_instance import JobState
from server.partition.config import PartitionConfig, QuotaConfig
from server.partition.meter import Unmeasured
from server.partition.partition import Partition
from server.partition.quota import Quota
from server.partition.turn import Entry, Turn, Turns
from server.platform.clock import VirtualClock
from server.store.entities import Job
from server.store.memory import MemoryStore
from tests.durable import EPOCH
from tests.server.partition.harness import MINUTE, Harness, Serving, activation, creation
from tests.waits import ticks, until


class RunningClock:
    """Gets to any instant as soon as somebody sleeps until then."""

    def __init__(self) -> None:
        self.instant = EPOCH

    def now(self) -> datetime:
        return self.instant

    def seconds_until(self, instant: datetime) -> float | None:
        self.instant = max(self.instant, instant)
        return 0.0


def jobs_of(harness: Harness) -> list[EngineJob]:
    return [job for found in harness.state.instances.values() for job in found.jobs.values()]


def job_states(harness: Harness) -> set[JobState]:
    return {job.state for job in jobs_of(harness)}


def fan_out(jobs: int) -> ProcessBuilder:
    builder = process("fan").parallel_gateway("split")
    for number in range(jobs):
        builder.branch("split").service_task(f"job{number}", type="fan").end()
    return builder


async def test_settling_brings_what_is_due_before_it_returns(serving: Serving) -> None:
    async with serving() as harness:
        await harness.start()
        (job,) = (await harness.submit(activation())).jobs

        await harness.advance(MINUTE)

        assert job_states(harness) == {JobState.ACTIVATABLE}
        row = await harness.store.get(Job, job.key, tenant_id="default")
        assert row is not None
        assert (row.state, row.last_update_time) == ("TIMED_OUT", EPOCH + MINUTE)


async def test_nothing_comes_before_its_time(serving: Serving) -> None:
    async with serving() as harness:
        await harness.start()
        await harness.submit(activation())

        await harness.advance(MINUTE - timedelta(milliseconds=1))
        await ticks(20)

        assert job_states(harness) == {JobState.ACTIVATED}


async def test_settling_brings_more_than_one_batch_of_what_is_due(serving: Serving) -> None:
    async with serving(PartitionConfig(max_batch=3)) as harness:
        await asyncio.gather(*(harness.start() for _ in range(20)))
        await harness.submit(activation(20))

        await harness.advance(MINUTE)

        assert job_states(harness) == {JobState.ACTIVATABLE}


async def test_what_is_due_for_one_tenant_delays_the_command_of_another_by_one(serving: Serving) -> None:
    async with serving(PartitionConfig(max_batch=1)) as harness:
        await asyncio.gather(*(harness.start() for _ in range(20)))
        await harness.submit(activation(20))
        harness.clock.advance(MINUTE)

        await harness.submit(replace(activation(), tenant_id="other"))

        timed_out = [job for job in jobs_of(harness) if job.state is JobState.ACTIVATABLE]
        assert len(timed_out) <= 3


async def test_work_in_slices_lets_other_tenants_have_their_turn(serving: Serving) -> None:
    async with serving(PartitionConfig(max_batch=1)) as harness:
        await harness.deploy(fan_out(100))
        harness.state.limits = EngineLimits(slice_steps=ENTERING_STEPS)
        key = (await harness.submit(creation(process_id="fan"))).head.key

        await harness.submit(replace(activation(), tenant_id="other"))

        assert len(harness.state.instances[key].jobs) < 10
        await until(lambda: len(harness.state.instances[key].jobs) == 100)


async def test_a_turn_that_had_its_time_leaves_the_rest_to_the_next(serving: Serving) -> None:
    async with serving(PartitionConfig(turn_seconds=0)) as harness:
        answers = [harness.spawn(harness.start()) for _ in range(5)]

        await asyncio.gather(*answers)

        assert len(harness.state.instances) == 5


def test_a_turn_ends_when_its_time_is_over() -> None:
    seconds = itertools.count(0, 0.02)
    turns = Turns(State(), Quota(QuotaConfig()), seconds=0.05, stopwatch=lambda: next(seconds))
    entries = [Entry(activation()) for _ in range(10)]

    growth = turns.grow(Turn(), entries, now=EPOCH)

    assert growth.left == entries[3:]


def test_a_slow_turn_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    seconds = iter([0.0, 2.5])
    turns = Turns(State(), Quota(QuotaConfig()), stopwatch=lambda: next(seconds))

    turns.grow(Turn(), [Entry(activation())], now=EPOCH)

    assert [record.message for record in caplog.records] == ["a turn was slow"]


async def test_settling_waits_for_the_commit(serving: Serving) -> None:
    async with serving() as harness:
        await harness.start()
        await harness.submit(activation())
        harness.store.hold()

        settled = harness.spawn(harness.advance(MINUTE))
        await until(lambda: harness.store.committing)
        await ticks(20)
        early = settled.done()
        harness.store.release(5)
        await settled

        assert not early


async def test_a_back_off_ends_with_time(serving: Serving) -> None:
    async with serving() as harness:
        await harness.start()
        (job,) = (await harness.submit(activation())).jobs
        failure = job_commands.FailJob(
            tenant_id="default", job_key=job.key, retries=1, retry_back_off=10 * MINUTE
        )
        await harness.submit(failure)

        await harness.advance(10 * MINUTE)

        assert [job.key] == [again.key for again in (await harness.submit(activation())).jobs]


async def test_a_clock_that_goes_back_brings_nothing(serving: Serving) -> None:
    async with serving() as harness:
        await harness.start()
        await harness.submit(activation())

        harness.clock.pin(EPOCH - 10 * MINUTE)
        harness.partition.clock_moved()
        await harness.partition.settle()

        assert job_states(harness) == {JobState.ACTIVATED}


async def test_a_clock_that_is_set_free_brings_what_is_due_by_then(serving: Serving) -> None:
    async with serving() as harness:
        await harness.start()
        await harness.submit(activation())

        harness.clock.reset()
        harness.partition.clock_moved()
        await harness.partition.settle()

        assert harness.clock.now() > EPOCH + MINUTE
        assert job_states(harness) == {JobState.ACTIVATABLE}


async def test_time_that_runs_brings_what_is_due_by_itself(serving: Serving) -> None:
    clock = RunningClock()
    async with serving(clock=VirtualClock(clock)) as harness:
        await harness.start()
        await harness.submit(activation())

        await until(lambda: job_states(harness) == {JobState.ACTIVATABLE})

        assert clock.now() == EPOCH + MINUTE


class TurnTimes(Unmeasured):
    """Keeps the durations of turns."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def turned(self, seconds: float) -> None:
        self.seconds.append(seconds)


async def test_a_turn_is_measured_by_its_own_stopwatch() -> None:
    ticking, times = itertools.count(), TurnTimes()
    partition = Partition(
        State(),
        MemoryStore(10),
        VirtualClock(pinned=EPOCH),
        PartitionConfig(turn_seconds=1_000),
        stopwatch=lambda: float(next(ticking)),
        meter=times,
    )
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(partition.run())
        await partition.opened()
        await partition.settle()
        partition.stop()

    assert times.seconds == [1.0]
