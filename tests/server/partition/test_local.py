"""A partition of this process, with those who wait there."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from server.engine import job_commands
from server.partition.config import InstancesConfig, JobsConfig
from server.partition.local import LocalPartition, OnlyPartition
from server.partition.port import Member
from server.store.ports import PartitionId
from tests.server.partition.harness import Harness, Serving, activation, creation
from tests.waits import ticks, until


@pytest.fixture
async def harness(serving: Serving) -> AsyncIterator[Harness]:
    async with serving() as harness:
        yield harness


@pytest.fixture
def local(harness: Harness) -> LocalPartition:
    return LocalPartition(harness.partition, harness.store, JobsConfig(), InstancesConfig())


async def test_a_command_is_carried_out(harness: Harness, local: LocalPartition) -> None:
    await local.submit(creation())

    assert len(harness.state.instances) == 1


async def test_an_activation_that_does_not_wait_gets_what_there_is(local: LocalPartition) -> None:
    assert (await local.activate(activation(), 0)).jobs == ()

    await local.submit(creation())

    assert len((await local.activate(activation(), 0)).jobs) == 1


async def test_an_activation_waits_for_what_comes(harness: Harness, local: LocalPartition) -> None:
    waiting = harness.spawn(local.activate(activation(), 60))
    await ticks(10)

    await local.submit(creation())

    assert len((await waiting).jobs) == 1


async def test_an_offer_is_awaited_without_taking_it(harness: Harness, local: LocalPartition) -> None:
    waiting = harness.spawn(local.await_offer(activation(), 60))
    await ticks(10)
    early = waiting.done()

    await local.submit(creation())

    assert (early, await waiting) == (False, True)
    assert len((await local.activate(activation(), 0)).jobs) == 1


async def test_an_offer_that_does_not_come_in_time_is_none(local: LocalPartition) -> None:
    assert not await local.await_offer(activation(), 0.001)


async def test_a_completion_is_awaited(harness: Harness, local: LocalPartition) -> None:
    key = await harness.start()
    waiting = harness.spawn(local.await_completion(key, "default", 60))
    (job,) = (await local.activate(activation(), 0)).jobs

    await local.submit(job_commands.CompleteJob("default", job.key))

    async with asyncio.timeout(10):
        await waiting


async def test_without_other_partitions_there_is_nothing_to_catch_up_with(
    harness: Harness, local: LocalPartition
) -> None:
    await local.catch_up()

    assert harness.store.batches == []


async def test_the_only_partition_is_found_whatever_is_asked_for(
    harness: Harness, local: LocalPartition
) -> None:
    only = OnlyPartition(local, "localhost", 26500)

    assert only.ids == (1,)
    assert only.find(PartitionId(7)) is local
    assert only.members() == (Member("embedded", "localhost", 26500, ((PartitionId(1), True),)),)

    harness.partition.stop()
    await until(lambda: not harness.partition.is_open)
    assert only.members()[0].partitions == ((1, False),)
