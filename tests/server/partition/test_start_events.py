"""Events that begin process instances in a deployment of two partitions: each begins one, whatever dies meanwhile."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import count

import pytest

from server.bpmn.builder import process
from server.engine import deployment_commands, message_commands, process_instance_commands, signal_commands
from server.engine.keys import Key
from server.engine.messages import home_of
from server.engine.start_timers import timers_home
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

    async def deploy(self, *resources: deployment_commands.Resource) -> None:
        await self.first.submit(deployment_commands.DeployResources("default", resources))
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
async def pair(dsn: str, resource_: deployment_commands.Resource) -> AsyncIterator[Pair]:
    async with deployment(dsn, 2) as deployed, opened(deployed) as both:
        await both.deploy(resource_)
        yield both


@pytest.mark.parametrize("origin", [1, 2])
async def test_a_signal_begins_one_instance_where_it_is_broadcast(durable_dsn: str, origin: int) -> None:
    async with pair(durable_dsn, BY_SIGNAL) as both:
        partition = both.first if origin == 1 else both.second

        await partition.submit(signal_commands.BroadcastSignal("default", "alarm"))
        await both.catch_up()

        assert both.running == ([Counter([1]), Counter()] if origin == 1 else [Counter(), Counter([1])])


async def test_a_version_that_another_partition_deployed_begins(durable_dsn: str) -> None:
    async with pair(durable_dsn, BY_SIGNAL) as both:
        await both.deploy(NEXT_BY_SIGNAL)

        await both.second.submit(signal_commands.BroadcastSignal("default", "alarm"))
        await both.catch_up()

        assert both.running == [Counter(), Counter([2])]


async def test_a_message_begins_one_instance_at_the_home_of_its_key(durable_dsn: str) -> None:
    publication = message_commands.PublishMessage(
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
            await both.second.submit(process_instance_commands.CancelProcessInstance("default", Key(key)))

            assert both.running == [Counter(), Counter([1])]
            (following,) = both.second.partition.state.instances
            assert following != key
            await both.second.submit(process_instance_commands.CancelProcessInstance("default", following))
            assert both.running == [Counter(), Counter()]


async def test_a_timer_begins_one_instance_after_each_interval_whatever_died_meanwhile(
    durable_dsn: str,
) -> None:
    async with deployment(durable_dsn, 2) as deployed:
        async with opened(deployed) as both:
            await both.deploy(BY_TIMER)
        async with opened(deployed) as both:
            await both.pin(HOUR)
            assert sum(both.running, Counter()) == Counter([1])
        async with opened(deployed) as both:
            await both.pin(HOUR)
            assert sum(both.running, Counter()) == Counter([1])
            await both.pin(2 * HOUR)
            assert sum(both.running, Counter()) == Counter([1, 1])
        async with opened(deployed) as both:
            await both.pin(9 * HOUR)
            assert sum(both.running, Counter()) == Counter([1, 1])


def timed(name: str, cycle: str = "R2/PT1H") -> deployment_commands.Resource:
    return resource(process(name).start_timer("begun", cycle=cycle).service_task("ship", type="ship").end())


def timers(both: Pair) -> list[set[str]]:
    """Processes whose timers each partition has."""
    return [
        {timer.process_definition_id for timer in each.partition.state.start_timers.timers.values()}
        for each in (both.first, both.second)
    ]


async def test_timers_of_many_processes_are_spread_by_their_definition_keys(durable_dsn: str) -> None:
    names = {f"p{number}" for number in range(8)}
    async with deployment(durable_dsn, 2) as deployed:
        async with opened(deployed) as both:
            await both.deploy(*map(timed, sorted(names)))
            spread = timers(both)
            homes = {
                each.process_definition_id: timers_home(each.key, 2)
                for each in both.first.partition.state.definitions.values()
            }
        async with opened(deployed) as both:
            again = timers(both)

    assert all(spread)
    assert spread == again == [{name for name in names if homes[name] == place} for place in (1, 2)]


async def test_a_new_version_takes_the_timers_of_the_earlier_one_from_whatever_partition_has_them(
    durable_dsn: str,
) -> None:
    async with deployment(durable_dsn, 2) as deployed, opened(deployed) as both:
        for number in range(1, 9):
            await both.deploy(timed("order", f"R{number}/PT1H"))

            assert sorted(map(len, timers(both))) == [0, 1]
            (timer,) = {
                **both.first.partition.state.start_timers.timers,
                **both.second.partition.state.start_timers.timers,
            }.values()
            assert timer.repetitions == number


async def test_a_deleted_version_leaves_the_timers_of_the_one_before(durable_dsn: str) -> None:
    async with deployment(durable_dsn, 2) as deployed, opened(deployed) as both:
        for number in range(1, 7):
            await both.deploy(timed("order", f"R{number}/PT1H"))
        for number in range(5, -1, -1):
            latest = both.first.partition.state.latest("default", "order")
            assert latest is not None
            await both.first.submit(deployment_commands.DeleteResource("default", latest.key))
            await both.catch_up()

            found = [
                timer.repetitions
                for each in (both.first, both.second)
                for timer in each.partition.state.start_timers.timers.values()
            ]
            assert found == ([number] if number else [])


async def test_a_home_that_was_away_sets_the_timers_of_the_latest_version(durable_dsn: str) -> None:
    async with deployment(durable_dsn, 2) as deployed:
        async with deployed.open(1) as first:
            for number in range(1, 9):
                command = deployment_commands.DeployResources("default", (timed("order", f"R{number}/PT1H"),))
                await first.submit(command)
        async with opened(deployed) as both:
            await both.catch_up()

            found = [
                timer.repetitions
                for each in (both.first, both.second)
                for timer in each.partition.state.start_timers.timers.values()
            ]
            assert found == [8]
