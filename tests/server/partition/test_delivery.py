"""Receivers are told of commands at once, each once at a time, until they were."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from server.partition.delivery import Delivery
from server.platform.errors import ResourceExhausted
from server.store.ports import EVERY_OTHER_PARTITION, PartitionId
from tests.server.partition.fakes import FakePartitions
from tests.waits import ticks, until

FIRST, SECOND, THIRD = (PartitionId(number) for number in (1, 2, 3))


@asynccontextmanager
async def delivering(partitions: FakePartitions) -> AsyncIterator[Delivery]:
    delivery = Delivery()
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(delivery.run(partitions))
        yield delivery
        running.cancel()


def told(partitions: FakePartitions) -> list[int]:
    """How often each partition was."""
    return [partition.catching_up for partition in partitions.all.values()]


async def test_the_receiver_is_told_and_nobody_else() -> None:
    partitions = FakePartitions(3)
    async with delivering(partitions) as delivery:
        delivery.sent(FIRST, {THIRD})

        await until(lambda: told(partitions) == [0, 0, 1])
        await ticks(10)

    assert told(partitions) == [0, 0, 1]


async def test_all_others_are_told_of_what_was_sent_to_all() -> None:
    partitions = FakePartitions(3)
    async with delivering(partitions) as delivery:
        delivery.sent(SECOND, {EVERY_OTHER_PARTITION})

        await until(lambda: told(partitions) == [1, 0, 1])


async def test_what_is_sent_while_a_receiver_is_told_costs_one_more_call() -> None:
    partitions = FakePartitions(2)
    partitions[2].catching = asyncio.Event()
    async with delivering(partitions) as delivery:
        delivery.sent(FIRST, {SECOND})
        await until(lambda: partitions[2].called)
        for _ in range(100):
            delivery.sent(FIRST, {SECOND})
            await ticks(1)

        partitions[2].catching.set()

        await until(lambda: told(partitions) == [0, 2])
        await ticks(10)
        delivery.sent(FIRST, {SECOND})
        await until(lambda: told(partitions) == [0, 3])

    assert partitions[2].called == 3


async def test_a_receiver_that_is_away_delays_no_other() -> None:
    partitions = FakePartitions(3)
    partitions.away = {2}
    async with delivering(partitions) as delivery:
        delivery.sent(FIRST, {SECOND, THIRD})

        await until(lambda: told(partitions) == [0, 0, 1])


@pytest.mark.parametrize("failure", [ResourceExhausted("too many"), ValueError("a fault of ours")])
async def test_a_receiver_that_could_not_be_told_is_told_later(failure: Exception) -> None:
    partitions = FakePartitions(2)
    partitions[2].outcomes.append(failure)
    async with delivering(partitions) as delivery:
        delivery.sent(FIRST, {SECOND})

        await until(lambda: told(partitions) == [0, 1])
