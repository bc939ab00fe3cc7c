"""Before a partition stops nobody waits any longer, and commands are still served."""

import asyncio

import pytest

from server.partition.completion_waiters import CompletionWaiters
from server.partition.config import InstancesConfig
from server.platform.errors import Unavailable
from tests.server.partition.harness import Serving
from tests.waits import ticks


async def test_a_waiting_activation_answers_with_no_job(serving: Serving) -> None:
    async with serving() as harness:
        waiting = harness.wait_for_jobs()
        await ticks(10)

        harness.partition.drain()

        async with asyncio.timeout(5):
            assert (await waiting).jobs == ()


async def test_an_activation_that_comes_later_does_not_wait(serving: Serving) -> None:
    async with serving() as harness:
        harness.partition.drain()

        async with asyncio.timeout(5):
            assert (await harness.wait_for_jobs()).jobs == ()


async def test_an_activation_that_comes_later_still_gets_the_jobs_there_are(serving: Serving) -> None:
    async with serving() as harness:
        await harness.start()

        harness.partition.drain()

        assert len((await harness.wait_for_jobs()).jobs) == 1


async def test_who_awaits_a_completion_is_told_that_it_may_still_come(serving: Serving) -> None:
    async with serving() as harness:
        completions = CompletionWaiters(harness.partition, harness.store, InstancesConfig())
        key = await harness.start()
        waiting = harness.spawn(completions.completed(key, "default", 60))
        await ticks(10)

        harness.partition.drain()

        async with asyncio.timeout(5):
            with pytest.raises(Unavailable):
                await waiting
            with pytest.raises(Unavailable):
                await completions.completed(key, "default", 60)
