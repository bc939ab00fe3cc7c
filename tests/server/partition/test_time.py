import asyncio
from datetime import datetime, timedelta

from server.engine import commands
from server.engine.state import JobState
from server.partition.config import PartitionConfig
from server.platform.clock import VirtualClock
from server.store.entities import Job
from tests.durable import EPOCH
from tests.server.partition.harness import MINUTE, Harness, Serving, activation
from tests.waiting import ticks, until


class RunningClock:
    """Gets to any instant as soon as somebody sleeps until then."""

    def __init__(self) -> None:
        self.instant = EPOCH

    def now(self) -> datetime:
        return self.instant

    def seconds_until(self, instant: datetime) -> float | None:
        self.instant = max(self.instant, instant)
        return 0.0


def job_states(harness: Harness) -> set[JobState]:
    return {job.state for found in harness.state.instances.values() for job in found.jobs.values()}


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
        failure = commands.FailJob(
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
