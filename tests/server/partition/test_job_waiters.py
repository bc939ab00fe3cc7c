import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from server.bpmn.builder import process
from server.engine import job_commands, process_instance_commands
from server.engine.answers import ActivatedJob, ActivatedJobs
from server.engine.process_instance import JobState
from server.partition.config import JobsConfig
from server.platform.errors import ResourceExhausted
from tests.server.engine.laws import open_incidents
from tests.server.partition.harness import Harness, Serving, activation
from tests.waits import ticks, until

Waiting = asyncio.Task[ActivatedJobs]
Offer = Callable[[Harness, ActivatedJob], Awaitable[None]]


def count(answer: Waiting) -> int | None:
    """How many jobs a worker got, None while it waits."""
    return len(answer.result().jobs) if answer.done() else None


async def settled(harness: Harness, *answers: Waiting) -> list[int | None]:
    """How many jobs each has after everything that could happen did."""
    for _ in range(5):
        await ticks(10)
        await harness.partition.settle()
    return [count(answer) for answer in answers]


async def test_jobs_on_offer_are_given_at_once(serving: Serving) -> None:
    async with serving() as harness:
        await harness.start()

        answer = await harness.wait_for_jobs()

        assert [job.type for job in answer.jobs] == ["a"]


async def test_a_worker_waits_until_a_job_is_offered(serving: Serving) -> None:
    async with serving() as harness:
        waiting = harness.wait_for_jobs()
        early = await settled(harness, waiting)

        key = await harness.start()

        assert early == [None]
        assert [job.instance.key for job in (await waiting).jobs] == [key]


async def test_a_worker_that_waited_in_vain_gets_none(serving: Serving) -> None:
    async with serving() as harness:
        answer = await harness.wait_for_jobs(seconds=0.001)

        assert answer.jobs == ()


async def test_a_worker_that_does_not_wait_gets_what_there_is(serving: Serving) -> None:
    async with serving() as harness:
        empty = await harness.waiters.activate_now(activation())
        await harness.start()

        answer = await harness.waiters.activate_now(activation())

        assert (empty.jobs, len(answer.jobs)) == ((), 1)


@pytest.mark.parametrize("offers", [1, 2, 3])
async def test_as_many_are_woken_as_there_are_jobs_longest_waiting_first(
    serving: Serving, offers: int
) -> None:
    async with serving() as harness:
        waiting = [harness.wait_for_jobs() for _ in range(4)]
        await ticks(10)

        await asyncio.gather(*(harness.start() for _ in range(offers)))

        assert await settled(harness, *waiting) == [1] * offers + [None] * (4 - offers)


async def test_who_takes_many_leaves_none_for_those_behind_who_keep_their_order(serving: Serving) -> None:
    async with serving() as harness:
        greedy, second, third = (harness.wait_for_jobs(most) for most in (10, 1, 1))
        await ticks(10)
        await asyncio.gather(harness.start(), harness.start())
        first_round = await settled(harness, greedy, second, third)

        await harness.start()

        assert first_round == [2, None, None]
        assert await settled(harness, second, third) == [1, None]


async def test_what_the_first_leaves_goes_to_those_behind(serving: Serving) -> None:
    async with serving() as harness:
        waiting = [harness.wait_for_jobs(most) for most in (2, 2, 2)]
        await ticks(10)

        await asyncio.gather(*(harness.start() for _ in range(5)))

        assert await settled(harness, *waiting) == [2, 2, 1]


async def test_who_comes_later_waits_behind_those_who_wait(serving: Serving) -> None:
    async with serving() as harness:
        harness.store.hold()
        first = harness.wait_for_jobs()
        await ticks(10)
        created = harness.spawn(harness.start())
        await until(lambda: harness.store.committing)

        late = harness.wait_for_jobs()
        harness.store.release(10)

        await created
        assert await settled(harness, first, late) == [1, None]


async def test_who_waits_for_another_type_or_tenant_is_left_alone(serving: Serving) -> None:
    async with serving() as harness:
        await harness.deploy(process("other").service_task("b", type="b").end())
        other = harness.wait_for_jobs(job_type="b")
        await ticks(10)

        await harness.start()

        assert await settled(harness, other) == [None]


async def give_back(harness: Harness, job: ActivatedJob) -> None:
    await harness.submit(job_commands.YieldJobs("default", ((job.key, job.deadline),)))


async def fail(harness: Harness, job: ActivatedJob) -> None:
    await harness.submit(job_commands.FailJob(tenant_id="default", job_key=job.key, retries=1))


async def resolve(harness: Harness, job: ActivatedJob) -> None:
    await harness.submit(job_commands.ThrowJobError(tenant_id="default", job_key=job.key, error_code="x"))
    (incident,) = open_incidents(harness.state)
    await harness.submit(process_instance_commands.ResolveIncident("default", incident))


async def time_out(harness: Harness, job: ActivatedJob) -> None:
    harness.clock.pin(job.deadline)
    harness.partition.clock_moved()


@pytest.mark.parametrize("offer", [give_back, fail, resolve, time_out])
async def test_every_way_of_offering_a_job_again_wakes(serving: Serving, offer: Offer) -> None:
    async with serving() as harness:
        await harness.start()
        (job,) = (await harness.submit(activation())).jobs
        waiting = harness.wait_for_jobs()
        await ticks(10)

        await offer(harness, job)

        assert await settled(harness, waiting) == [1]
        assert [job.key] == [again.key for again in (await waiting).jobs]


@pytest.mark.parametrize("rounds", range(25))
async def test_a_worker_that_vanishes_at_any_moment_loses_no_job(serving: Serving, rounds: int) -> None:
    async with serving() as harness:
        gone, next_in_line = harness.wait_for_jobs(), harness.wait_for_jobs()
        await ticks(10)
        harness.spawn(harness.start())
        await ticks(rounds)

        gone.cancel()

        was_served = await settled(harness, next_in_line)
        if gone.cancelled():
            assert was_served == [1]
        else:
            assert (count(gone), was_served) == (1, [None])


@pytest.mark.parametrize("rounds", range(15))
async def test_a_worker_that_vanishes_while_jobs_are_there_gives_them_back(
    serving: Serving, rounds: int
) -> None:
    async with serving() as harness:
        await asyncio.gather(*(harness.start() for _ in range(3)))
        gone = harness.wait_for_jobs(10)
        await ticks(rounds)

        gone.cancel()

        await settled(harness)
        states = {job.state for found in harness.state.instances.values() for job in found.jobs.values()}
        assert states == ({JobState.ACTIVATABLE} if gone.cancelled() else {JobState.ACTIVATED})


async def test_so_many_may_wait_and_no_more(serving: Serving) -> None:
    async with serving(jobs=JobsConfig(max_waiting=2)) as harness:
        waiting = [harness.wait_for_jobs() for _ in range(2)]
        await ticks(10)

        with pytest.raises(ResourceExhausted, match="2 activations wait already"):
            await harness.wait_for_jobs()

        waiting[0].cancel()
        await ticks(5)
        late = harness.wait_for_jobs()
        assert await settled(harness, late) == [None]


async def test_activations_of_one_tenant_leave_room_for_those_of_others(serving: Serving) -> None:
    async with serving(jobs=JobsConfig(max_tenant_waiting=2)) as harness:
        waiting = [harness.wait_for_jobs(job_type=job_type) for job_type in ("a", "b")]
        await ticks(10)

        with pytest.raises(ResourceExhausted, match="2 activations of the tenant wait already"):
            await harness.wait_for_jobs()

        other = harness.spawn(harness.waiters.activate(replace(activation(), tenant_id="other"), 60))
        assert await settled(harness, *waiting, other) == [None, None, None]

        waiting[0].cancel()
        await ticks(5)
        assert await settled(harness, harness.wait_for_jobs()) == [None]


async def test_nothing_is_left_of_those_who_went(serving: Serving) -> None:
    async with serving(jobs=JobsConfig(max_waiting=3)) as harness:
        for _ in range(10):
            answers = await asyncio.gather(*(harness.wait_for_jobs(seconds=0.001) for _ in range(3)))
            assert [answer.jobs for answer in answers] == [(), (), ()]

        waiting = harness.wait_for_jobs()
        await harness.start()

        assert await settled(harness, waiting) == [1]
