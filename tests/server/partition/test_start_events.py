"""Events that begin process instances in a deployment of two partitions: each begins one, whatever dies meanwhile."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import count

import pytest

from server.bpmn.builder import process
from server.engine import commands
from server.engine.keys import Key
from server.engine.messages import home_of
from server.partition.local import LocalPartition
from tests.durable import EPOCH
from tests.server.engine.scenario import resource
from tests.server.partition.durable import Deployment, deployment

HOUR = timedelta(hours=1)
BY_SIGNAL = resource(
    process("order").start_signal("begun", signal="alarm").service_task("ship", type="ship").end()
)
NEXT_BY_SIGNAL = resource(
    process("order").start_signal("begun", signal="alarm").service_task("pack", type="pack").end()
)
BY_MESSAGE = resource(
    process("order").start_message("begun", message="ordered").service_task("ship", type="ship").end()
)
BY_TIMER = resource(
    process("order").start_timer("begun", cycle="R2/PT1H").service_task("ship", type="ship").end()
)

# A correlation key whose home is partition 2.
KEY = next(str(number) for number in count() if home_of("default", str(number), 2) == 2)


class Pair:
    def __init__(self, deployed: Deployment, first: LocalPartition, second: LocalPartition) -> None:
        self.deployed, self.first, self.second = deployed, first, second

    async def catch_up(self) -> None:
        """Until nothing is on its way."""
        while await self.deployed.pool.fetchval("SELECT count(*) FROM gnomon.outbox"):
            await self.second.catch_up()
            await self.first.catch_up()
        for each in (self.first, self.second):
            await each.partition.settle()

    async def pin(self, after: timedelta) -> None:
        self.deployed.clock.pin(EPOCH + after)
        for each in (self.first, self.second):
            each.partition.clock_moved()
            await each.partition.settle()

    async def deploy(self, *resources: commands.Resource) -> None:
        await self.first.submit(commands.DeployResources("default", resources))
        await self.catch_up()

    @property
    def running(self) -> list[Counter[int]]:
        """Versions of the process instances of each partition."""
        return [
            Counter(each.head.version for each in partition.partition.state.instances.values())
            for partition in (self.first, self.second)
        ]


@asynccontextmanager
async def opened(deployed: Deployment) -> AsyncIterator[Pair]:
    async with deployed.open(1) as first, deployed.open(2) as second:
        yield Pair(deployed, first, second)


@asynccontextmanager
async def pair(dsn: str, resource_: commands.Resource) -> AsyncIterator[Pair]:
    async with deployment(dsn, 2) as deployed, opened(deployed) as both:
        await both.deploy(resource_)
        yield both


@pytest.mark.parametrize("origin", [1, 2])
async def test_a_signal_begins_one_instance_where_it_is_broadcast(durable_dsn: str, origin: int) -> None:
    async with pair(durable_dsn, BY_SIGNAL) as both:
        partition = both.first if origin == 1 else both.second

        await partition.submit(commands.BroadcastSignal("default", "alarm"))
        await both.catch_up()

        assert both.running == ([Counter([1]), Counter()] if origin == 1 else [Counter(), Counter([1])])


async def test_a_version_that_another_partition_deployed_begins(durable_dsn: str) -> None:
    async with pair(durable_dsn, BY_SIGNAL) as both:
        await both.deploy(NEXT_BY_SIGNAL)

        await both.second.submit(commands.BroadcastSignal("default", "alarm"))
        await both.catch_up()

        assert both.running == [Counter(), Counter([2])]


async def test_a_message_begins_one_instance_at_the_home_of_its_key(durable_dsn: str) -> None:
    publication = commands.PublishMessage(
        tenant_id="default", name="ordered", correlation_key=KEY, time_to_live=HOUR
    )
    async with deployment(durable_dsn, 2) as deployed:
        async with opened(deployed) as both:
            await both.deploy(BY_MESSAGE)
            await both.second.submit(publication)
            await both.second.submit(publication)
            assert both.running == [Counter(), Counter([1])]
        async with opened(deployed) as both:
            (key,) = both.second.partition.state.instances
            await both.second.submit(commands.CancelProcessInstance("default", Key(key)))

            assert both.running == [Counter(), Counter([1])]
            (following,) = both.second.partition.state.instances
            assert following != key
            await both.second.submit(commands.CancelProcessInstance("default", following))
            assert both.running == [Counter(), Counter()]


async def test_a_timer_begins_one_instance_after_each_interval_whatever_died_meanwhile(
    durable_dsn: str,
) -> None:
    async with deployment(durable_dsn, 2) as deployed:
        async with opened(deployed) as both:
            await both.deploy(BY_TIMER)
        async with opened(deployed) as both:
            await both.pin(HOUR)
            assert both.running == [Counter([1]), Counter()]
        async with opened(deployed) as both:
            await both.pin(HOUR)
            assert both.running == [Counter([1]), Counter()]
            await both.pin(2 * HOUR)
            assert both.running == [Counter([1, 1]), Counter()]
        async with opened(deployed) as both:
            await both.pin(9 * HOUR)
            assert both.running == [Counter([1, 1]), Counter()]
