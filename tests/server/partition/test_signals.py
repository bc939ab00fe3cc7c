"""Signals that go from partition to partition, each of which may die between any two commits."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from server.bpmn.builder import process
from server.engine import deployment_commands, process_instance_commands, signal_commands
from server.engine.answers import CreatedInstance, SignalBroadcast
from server.engine.handlers.signal import TRIGGERED_AT_ONCE
from server.engine.keys import Key, partition_of
from server.partition.local import LocalPartition
from tests.server.engine.scenario import resource, texts
from tests.server.partition.durable import Deployment, deployment

WAITING = resource(process("order").signal_catch("wait", signal="alarm").end())
GUARDED = resource(
    process("order").service_task("ship", type="ship").end()
    .boundary_signal("alarm", on="ship", signal="alarm", is_interrupting=False)
    .service_task("tell", type="tell").end()
)  # fmt: skip
THROWING = resource(process("alarm").end_signal("throw", signal="alarm", inputs={"level": "=level"}))


class Pair:
    """Two partitions that run the same processes."""

    def __init__(self, deployed: Deployment, first: LocalPartition, second: LocalPartition) -> None:
        self.deployed, self.first, self.second = deployed, first, second

    async def start(self, partition: LocalPartition, process_id: str = "order", **variables: object) -> Key:
        command = process_instance_commands.CreateProcessInstance(
            tenant_id="default", process_definition_id=process_id, variables=texts(variables)
        )
        answer = await partition.submit(command)
        assert isinstance(answer, CreatedInstance)
        return answer.head.key

    async def broadcast(self, partition: LocalPartition, **variables: object) -> Key:
        answer = await partition.submit(signal_commands.BroadcastSignal("default", "alarm", texts(variables)))
        assert isinstance(answer, SignalBroadcast)
        return answer.key

    async def catch_up(self) -> None:
        """Until nothing is on its way."""
        while await self.deployed.pool.fetchval("SELECT count(*) FROM gnomon.outbox"):
            await self.second.catch_up()
            await self.first.catch_up()
        await self.first.partition.settle()
        await self.second.partition.settle()

    @property
    def told(self) -> list[int]:
        """How many jobs of signals each partition has."""
        return [
            sum(
                job.type == "tell"
                for instance in each.partition.state.instances.values()
                for job in instance.jobs.values()
            )
            for each in (self.first, self.second)
        ]

    @property
    def running(self) -> int:
        return sum(len(each.partition.state.instances) for each in (self.first, self.second))


@asynccontextmanager
async def opened(deployed: Deployment) -> AsyncIterator[Pair]:
    async with deployed.open(1) as first, deployed.open(2) as second:
        yield Pair(deployed, first, second)


@asynccontextmanager
async def pair(dsn: str, *resources: deployment_commands.Resource) -> AsyncIterator[Pair]:
    async with deployment(dsn, 2) as deployed, opened(deployed) as both:
        await both.first.submit(deployment_commands.DeployResources("default", resources))
        await both.catch_up()
        yield both


@pytest.mark.parametrize("place", ["first", "second"])
async def test_a_broadcast_triggers_what_waits_in_each_partition_once(durable_dsn: str, place: str) -> None:
    async with pair(durable_dsn, GUARDED) as both:
        for partition in (both.first, both.second, both.second):
            await both.start(partition)
        origin = both.first if place == "first" else both.second

        key = await both.broadcast(origin)
        await both.catch_up()

        assert partition_of(key) == origin.partition.id
        assert both.told == [1, 2]
        await both.catch_up()
        assert both.told == [1, 2]


async def test_a_signal_that_is_thrown_goes_to_the_other_partition_with_its_variables(
    durable_dsn: str,
) -> None:
    async with pair(durable_dsn, WAITING, THROWING) as both:
        await both.start(both.first)
        waiting = await both.start(both.second)

        await both.start(both.first, "alarm", level=7)
        await both.catch_up()

        assert both.running == 0
        value = await both.deployed.pool.fetchval(
            "SELECT value FROM gnomon.variable WHERE process_instance_key = $1 AND name = 'level'", waiting
        )
        assert value == "7"


async def test_a_broadcast_to_many_goes_on_after_its_partition_died(durable_dsn: str) -> None:
    """The slices that were committed are not done again."""
    count = TRIGGERED_AT_ONCE + 5
    async with deployment(durable_dsn, 2, quota=count) as deployed:
        async with opened(deployed) as both:
            await both.first.submit(deployment_commands.DeployResources("default", (GUARDED,)))
            await both.catch_up()
            for _ in range(count):
                await both.start(both.second)
        async with opened(deployed) as both:
            await both.broadcast(both.second)
        async with opened(deployed) as both:
            await both.catch_up()

            assert both.told == [0, count]
            assert both.second.partition.state.signals.broadcasts == {}


async def _first_starts(both: Pair) -> None:
    await both.start(both.first)


async def _second_starts(both: Pair) -> None:
    await both.start(both.second)


async def _broadcast(both: Pair) -> None:
    await both.broadcast(both.first)


async def _second(both: Pair) -> None:
    await both.second.catch_up()


STORIES: dict[str, tuple[Sequence[object], list[int]]] = {
    "both wait": ([_first_starts, _second_starts, _broadcast, _second], [1, 1]),
    "the other waits later": ([_broadcast, _second, _second_starts], [0, 0]),
    "two signals": ([_first_starts, _second_starts, _broadcast, _broadcast, _second], [2, 2]),
}


@pytest.mark.parametrize("story", STORIES)
async def test_a_crash_between_any_two_commits_loses_and_doubles_nothing(
    durable_dsn: str, story: str
) -> None:
    """Both partitions end after each step, and their next owners recover what is in the outbox."""
    steps, told = STORIES[story]
    async with deployment(durable_dsn, 2) as deployed:
        async with opened(deployed) as both:
            await both.first.submit(deployment_commands.DeployResources("default", (GUARDED,)))
            await both.catch_up()
        for step in steps:
            async with AsyncExitStack() as owners:
                both = await owners.enter_async_context(opened(deployed))
                await step(both)  # type: ignore[operator]
        async with opened(deployed) as both:
            await both.catch_up()

            assert both.told == told
