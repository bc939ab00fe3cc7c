"""How a partition ends: nobody is left without an answer."""

import asyncio

import pytest

from server.engine import State
from server.engine.keys import Key
from server.partition.config import PartitionConfig
from server.partition.idempotency import IdempotencyKey
from server.partition.origin import Origin
from server.partition.partition import Partition
from server.platform.clock import VirtualClock
from server.platform.errors import Unavailable
from server.store.memory import MemoryStore
from tests.durable import EPOCH
from tests.server.partition.harness import Harness, HeldStore, Serving, activation, creation
from tests.waits import ticks, until

ONE_AT_A_TIME = PartitionConfig(max_batch=1)


class BrokenStoreError(Exception):
    pass


async def outcome_of(answer: "asyncio.Task[object]") -> object:
    try:
        async with asyncio.timeout(1):
            return await answer
    except Unavailable as refusal:
        return refusal.detail


async def three_deep(harness: Harness) -> list["asyncio.Task[object]"]:
    """One command that is being committed, one that is processed, one that waits."""
    harness.store.hold()
    answers = [harness.spawn(harness.submit(creation()))]
    await until(lambda: harness.store.committing)
    answers.append(harness.spawn(harness.submit(creation())))
    await until(lambda: len(harness.state.instances) == 2)
    answers.append(harness.spawn(harness.submit(creation())))
    await ticks(5)
    assert len(harness.state.instances) == 2
    return answers


async def test_a_failing_commit_ends_the_partition_and_refuses_everybody(serving: Serving) -> None:
    async with serving(ONE_AT_A_TIME) as harness:
        answers = await three_deep(harness)
        harness.store.failure = BrokenStoreError()

        harness.store.release()

        outcomes = [await outcome_of(answer) for answer in answers]
        assert outcomes == ["the partition stopped serving"] * 3
        assert harness.running is not None
        with pytest.raises(ExceptionGroup) as failed:
            await harness.running
        assert [type(error) for error in failed.value.exceptions] == [BrokenStoreError]


async def test_who_waits_for_the_store_to_be_read_is_refused_too(serving: Serving) -> None:
    keyed = Origin("default", "client", "r", IdempotencyKey("default", "key", b"hash"))
    async with serving() as harness:
        harness.store.hold_reads()
        answer = harness.spawn(harness.partition.submit(creation(), keyed))
        await until(lambda: harness.store.reading)

        assert harness.running is not None
        harness.running.cancel()

        assert await outcome_of(answer) == "the partition stopped serving"


async def test_a_partition_that_ended_takes_nothing_more(serving: Serving) -> None:
    async with serving() as harness:
        harness.store.failure = BrokenStoreError()
        with pytest.raises(Unavailable):
            await harness.start()

        with pytest.raises(Unavailable, match="partition 1 is not serving"):
            await harness.start()

        assert not harness.partition.is_open


async def test_a_failing_commit_is_noticed_while_nothing_else_is_to_do(serving: Serving) -> None:
    async with serving() as harness:
        harness.store.failure = BrokenStoreError()

        with pytest.raises(Unavailable):
            await harness.start()

        await until(lambda: harness.running and harness.running.done())


async def test_stopping_refuses_everybody(serving: Serving) -> None:
    async with serving(ONE_AT_A_TIME) as harness:
        answers = await three_deep(harness)
        assert harness.running is not None

        harness.running.cancel()

        outcomes = [await outcome_of(answer) for answer in answers]
        assert outcomes == ["the partition stopped serving"] * 3
        assert harness.running.cancelled()


async def test_a_projection_that_falls_over_ends_the_partition_and_refuses_everybody(
    serving: Serving,
) -> None:
    """Here: a store that meets the same row twice."""
    async with serving() as harness:
        key = await harness.start()
        harness.state.last_key = Key(key - 1)

        assert await outcome_of(harness.spawn(harness.submit(creation()))) == "the partition stopped serving"


async def test_a_partition_that_does_not_run_takes_nothing() -> None:
    partition = Partition(
        State(), HeldStore(MemoryStore(1_000)), VirtualClock(pinned=EPOCH), PartitionConfig()
    )

    with pytest.raises(Unavailable):
        await partition.submit(activation())
