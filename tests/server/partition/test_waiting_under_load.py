"""Workers come and go, jobs come and go, in any order: no wake-up is lost and no job."""

import asyncio
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from server.engine import job_commands
from server.partition.config import PartitionConfig
from tests.server.partition.harness import Harness, Serving
from tests.waits import ticks, until

if TYPE_CHECKING:
    from server.engine.answers import ActivatedJobs

Polls = list["asyncio.Task[ActivatedJobs]"]


@dataclass(frozen=True)
class Poll:
    """A worker asks for this number of jobs."""

    most: int


@dataclass(frozen=True)
class Create:
    """So many jobs come up."""

    count: int


@dataclass(frozen=True)
class Vanish:
    """The worker that came so many polls ago goes away."""

    which: int


@dataclass(frozen=True)
class Pause:
    rounds: int


@dataclass(frozen=True)
class Release:
    """The store commits so many batches."""

    commits: int


Act = Poll | Create | Vanish | Pause | Release

acts = st.lists(
    st.one_of(
        st.builds(Poll, st.integers(1, 3)),
        st.builds(Poll, st.integers(1, 3)),
        st.builds(Create, st.integers(1, 3)),
        st.builds(Vanish, st.integers(0, 5)),
        st.builds(Pause, st.integers(1, 8)),
        st.builds(Release, st.integers(1, 3)),
    ),
    min_size=5,
    max_size=40,
)


def test_no_worker_waits_while_a_job_is_on_offer(serving: Serving) -> None:
    """Every job is on offer, or with exactly one worker that got it; workers are served in the order they came."""

    @settings(max_examples=serving.examples)
    @given(acts, st.integers(1, 6), st.booleans())
    def happens(history: list[Act], max_batch: int, held: bool) -> None:  # noqa: FBT001  # given by hypothesis
        asyncio.run(_story(serving, history, max_batch, held=held))

    happens()


async def _story(serving: Serving, history: list[Act], max_batch: int, *, held: bool) -> None:
    async with serving(PartitionConfig(max_batch=max_batch)) as harness:
        if held:
            harness.store.hold()
        polls = await _play(history, harness, held=held)
        if held:
            harness.store.release(1_000)
        for _ in range(10):
            await ticks(20)
            await harness.partition.settle()

        offered = set(harness.state.offers.get(("default", "a"), ()))
        waiting = [poll for poll in polls if not poll.done()]
        assert not (offered and waiting)
        got = Counter(job.key for poll in polls if _was_served(poll) for job in poll.result().jobs)
        assert set(got.values()) <= {1}
        assert set(got) | offered == set(harness.state.owners)
        assert not set(got) & offered
        await _expect_fairness(harness, waiting)


async def _play(history: list[Act], harness: Harness, *, held: bool) -> Polls:
    polls: Polls = []
    for act in history:
        match act:
            case Poll(most=most):
                polls.append(harness.wait_for_jobs(most))
            case Create(count=count):
                for _ in range(count):
                    harness.spawn(harness.start())
            case Vanish(which=which) if polls:
                polls[-1 - which % len(polls)].cancel()
            case Pause(rounds=rounds):
                await ticks(rounds)
            case Release(commits=commits) if held:
                harness.store.release(commits)
            case _:
                pass
    return polls


def _was_served(poll: "asyncio.Task[ActivatedJobs]") -> bool:
    return poll.done() and not poll.cancelled()


async def _expect_fairness(harness: Harness, waiting: Polls) -> None:
    """One job at a time goes to whoever waits longest."""
    for poll in waiting:
        await harness.start()
        await until(poll.done)
        assert _was_served(poll)
        for job in poll.result().jobs:
            await harness.submit(job_commands.CompleteJob("default", job.key))
