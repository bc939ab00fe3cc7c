"""Messages that go from partition to partition, each of which may die between any two commits."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from itertools import count

import pytest

from server.bpmn.builder import event_sub_process, process
from server.engine import (
    deployment_commands,
    job_commands,
    message_commands,
    migration_commands,
    process_instance_commands,
)
from server.engine.answers import ActivatedJobs, CreatedInstance
from server.engine.keys import Key, partition_of
from server.engine.messages import home_of
from server.engine.subscriptions import MessageSubscription
from server.partition.local import LocalPartition
from server.platform.errors import InvalidState
from tests.durable import EPOCH
from tests.server.engine.scenario import resource, texts
from tests.server.partition.durable import Deployment, deployment

HOUR = timedelta(hours=1)
WAITING = resource(process("order").message_catch("wait", message="paid", key="=id").end())
GUARDED = resource(
    process("order").service_task("ship", type="ship").end()
    .boundary_message("news", on="ship", message="news", key="=id", is_interrupting=False)
    .service_task("tell", type="tell").end()
)  # fmt: skip
RACE = resource(
    process("order").event_based_gateway("race")
    .message_catch("paid", message="paid", key="=id").end()
    .branch("race").timer_catch("late", duration="PT1H").end()
)  # fmt: skip
LEFT = resource(
    process("order").execution_listener("end", type="listen").start().service_task("ship", type="ship").end()
    .beside(event_sub_process("news").start_message("told", message="news", key="=id").end())
)  # fmt: skip

# A correlation key whose home is partition 2.
KEY = next(str(number) for number in count() if home_of("default", str(number), 2) == 2)


class Pair:
    """Two partitions: process instances run in the first one, and the home of their key is the second."""

    def __init__(self, deployed: Deployment, first: LocalPartition, second: LocalPartition) -> None:
        self.deployed, self.first, self.second = deployed, first, second

    async def start(self) -> Key:
        command = process_instance_commands.CreateProcessInstance(
            tenant_id="default", process_definition_id="order", variables=texts({"id": KEY})
        )
        answer = await self.first.submit(command)
        assert isinstance(answer, CreatedInstance)
        return answer.head.key

    async def publish(self, name: str = "paid", lives: timedelta = timedelta(), **variables: object) -> None:
        await self.second.submit(
            message_commands.PublishMessage(
                tenant_id="default",
                name=name,
                correlation_key=KEY,
                time_to_live=lives,
                variables=texts(variables),
            )
        )

    async def do(self, job_type: str) -> None:
        """Let a worker complete a job of this type."""
        activation = job_commands.ActivateJobs(
            tenant_id="default", type=job_type, worker="worker", timeout=HOUR, max_jobs=1
        )
        answer = await self.first.submit(activation)
        assert isinstance(answer, ActivatedJobs)
        await self.first.submit(job_commands.CompleteJob("default", answer.jobs[0].key, {}))

    async def catch_up(self) -> None:
        """Until nothing is on its way."""
        while await self.deployed.pool.fetchval("SELECT count(*) FROM gnomon.outbox"):
            await self.second.catch_up()
            await self.first.catch_up()

    @property
    def running(self) -> set[Key]:
        return set(self.first.partition.state.instances)

    def expect_settled(self) -> None:
        """Subscriptions of the first partition are open in the second, and nothing is under way."""
        opened = {
            key
            for instance in self.first.partition.state.instances.values()
            for key, each in instance.subscriptions.items()
            if isinstance(each, MessageSubscription)
        }
        known = self.second.partition.state.messages
        assert opened == known.subscriptions.keys()
        assert all(each.message_key is None for each in known.subscriptions.values())
        assert not any(each.deliveries for each in known.messages.values())


@asynccontextmanager
async def opened(deployed: Deployment) -> AsyncIterator[Pair]:
    async with deployed.open(1) as first, deployed.open(2) as second:
        yield Pair(deployed, first, second)


@asynccontextmanager
async def pair(dsn: str, resource_: deployment_commands.Resource = WAITING) -> AsyncIterator[Pair]:
    async with deployment(dsn, 2) as deployed, opened(deployed) as both:
        await both.first.submit(deployment_commands.DeployResources("default", (resource_,)))
        await both.catch_up()
        yield both


async def test_a_message_finds_what_waits_in_another_partition(durable_dsn: str) -> None:
    async with pair(durable_dsn) as both:
        key = await both.start()
        await both.catch_up()
        assert partition_of(key) == 1

        await both.publish(amount=5)
        await both.catch_up()

        assert both.running == set()
        assert both.second.partition.state.messages.messages == {}
        both.expect_settled()


async def test_a_buffered_message_finds_what_waits_later(durable_dsn: str) -> None:
    async with pair(durable_dsn) as both:
        await both.publish(lives=HOUR)
        await both.start()
        await both.catch_up()

        assert both.running == set()
        both.expect_settled()


async def migrate(both: Pair, key: Key, name: str) -> None:
    target = both.first.partition.state.latest("default", name)
    assert target is not None
    await both.first.submit(
        migration_commands.MigrateProcessInstance(
            tenant_id="default",
            process_instance_key=key,
            target_process_definition_key=target.key,
            mapping_instructions=(migration_commands.MappingInstruction("wait", "wait"),),
        )
    )


async def test_an_instance_is_not_migrated_again_while_its_subscription_is_on_its_way(
    durable_dsn: str,
) -> None:
    targets = tuple(
        resource(process(name).message_catch("wait", message="paid", key="=id").end())
        for name in ("second", "third")
    )
    async with pair(durable_dsn) as both:
        await both.first.submit(deployment_commands.DeployResources("default", targets))
        key = await both.start()
        await both.catch_up()

        await migrate(both, key, "second")
        with pytest.raises(InvalidState, match="is still on its way"):
            await migrate(both, key, "third")

        known = both.second.partition.state.messages.subscriptions
        await both.catch_up()
        assert {each.process_definition_id for each in known.values()} == {"second"}
        await migrate(both, key, "third")
        await both.catch_up()
        assert {each.process_definition_id for each in known.values()} == {"third"}
        await both.publish()
        await both.catch_up()
        assert both.running == set()
        both.expect_settled()


async def test_a_subscription_that_ends_on_its_way_is_confirmed_to_nobody(durable_dsn: str) -> None:
    target = resource(process("second").message_catch("wait", message="paid", key="=id").end())
    async with pair(durable_dsn) as both:
        await both.first.submit(deployment_commands.DeployResources("default", (target,)))
        key = await both.start()
        await both.catch_up()

        await migrate(both, key, "second")
        await both.first.submit(process_instance_commands.CancelProcessInstance("default", key))
        await both.catch_up()

        assert both.running == set()
        both.expect_settled()


async def test_a_message_that_comes_too_late_goes_to_the_next_instance(durable_dsn: str) -> None:
    """The first one is cancelled while the message is on its way."""
    async with pair(durable_dsn) as both:
        first, second = await both.start(), await both.start()
        await both.catch_up()

        await both.publish()
        await both.first.submit(process_instance_commands.CancelProcessInstance("default", first))
        assert both.running == {second}
        await both.catch_up()

        assert both.running == set()
        assert both.second.partition.state.messages.messages == {}
        both.expect_settled()


async def test_a_message_that_nobody_takes_any_longer_is_gone(durable_dsn: str) -> None:
    async with pair(durable_dsn) as both:
        key = await both.start()
        await both.catch_up()

        await both.publish()
        await both.first.submit(process_instance_commands.CancelProcessInstance("default", key))
        await both.catch_up()

        assert both.second.partition.state.messages.messages == {}
        both.expect_settled()


async def test_a_message_expires_with_its_outcome_open_and_is_kept_until_it_is_known(
    durable_dsn: str,
) -> None:
    async with pair(durable_dsn) as both:
        await both.start()
        await both.catch_up()
        await both.publish(lives=HOUR)

        both.deployed.clock.pin(EPOCH + HOUR)
        both.second.partition.clock_moved()
        await both.second.partition.settle()
        assert len(both.second.partition.state.messages.messages) == 1
        await both.catch_up()

        assert both.running == set()
        assert both.second.partition.state.messages.messages == {}


async def test_one_that_does_not_interrupt_gets_one_message_after_the_other(durable_dsn: str) -> None:
    async with pair(durable_dsn, GUARDED) as both:
        key = await both.start()
        await both.catch_up()

        for number in range(3):
            await both.publish("news", HOUR, n=number)
        await both.catch_up()

        instance = both.first.partition.state.instances[key]
        assert sorted(job.type for job in instance.jobs.values()) == ["ship", "tell", "tell", "tell"]
        both.expect_settled()


@pytest.mark.parametrize("first", ["message", "timer"])
async def test_the_first_event_behind_a_gateway_closes_the_others_at_their_home(
    durable_dsn: str, first: str
) -> None:
    async with pair(durable_dsn, RACE) as both:
        await both.start()
        await both.catch_up()
        assert len(both.second.partition.state.messages.subscriptions) == 1

        if first == "message":
            await both.publish()
        else:
            both.deployed.clock.pin(EPOCH + HOUR)
            both.first.partition.clock_moved()
            await both.first.partition.settle()
        await both.catch_up()

        assert both.running == set()
        both.expect_settled()


async def test_a_message_that_the_timer_of_a_gateway_overtakes_stays_in_the_buffer(durable_dsn: str) -> None:
    async with pair(durable_dsn, RACE) as both:
        await both.start()
        await both.catch_up()
        await both.publish(lives=2 * HOUR)

        both.deployed.clock.pin(EPOCH + HOUR)
        both.first.partition.clock_moved()
        await both.first.partition.settle()
        assert both.running == set()
        await both.catch_up()

        (message,) = both.second.partition.state.messages.messages.values()
        assert message.process_ids == {}
        both.expect_settled()


async def test_a_message_for_a_scope_that_is_left_stays_in_the_buffer(durable_dsn: str) -> None:
    async with pair(durable_dsn, LEFT) as both:
        key = await both.start()
        await both.catch_up()
        await both.do("ship")

        await both.publish("news", HOUR)
        await both.catch_up()

        assert both.running == {key}
        (message,) = both.second.partition.state.messages.messages.values()
        assert message.process_ids == {}
        both.expect_settled()


async def _start(both: Pair) -> None:
    await both.start()


async def _publish(both: Pair) -> None:
    await both.publish(lives=HOUR)


async def _cancel(both: Pair) -> None:
    for key in both.running:
        await both.first.submit(process_instance_commands.CancelProcessInstance("default", key))


async def _first(both: Pair) -> None:
    await both.first.catch_up()


async def _second(both: Pair) -> None:
    await both.second.catch_up()


STORIES: dict[str, Sequence[object]] = {
    "it waits, then the message comes": [_start, _second, _publish, _first, _second],
    "the message comes first": [_publish, _start, _second, _first, _second],
    "it is cancelled meanwhile": [_start, _second, _publish, _cancel, _first, _second],
    "another one takes it": [_start, _start, _second, _publish, _cancel, _start, _first, _second, _first],
}


@pytest.mark.parametrize("story", STORIES)
async def test_a_crash_between_any_two_commits_loses_and_doubles_nothing(
    durable_dsn: str, story: str
) -> None:
    """Both partitions end after each step, and their next owners recover."""
    async with deployment(durable_dsn, 2) as deployed:
        async with opened(deployed) as both:
            await both.first.submit(deployment_commands.DeployResources("default", (WAITING,)))
            await both.catch_up()
        for step in STORIES[story]:
            async with AsyncExitStack() as owners:
                both = await owners.enter_async_context(opened(deployed))
                await step(both)  # type: ignore[operator]
        async with opened(deployed) as both:
            await both.catch_up()
            waiting = len(both.running)
            messages = both.second.partition.state.messages.messages
            taken = [message for message in messages.values() if message.process_ids]

            assert waiting == (0 if taken or not messages else 1) or story == "another one takes it"
            assert len(messages) == 1
            both.expect_settled()


async def test_homes_stay_where_they_are_when_partitions_are_added(durable_dsn: str) -> None:
    async with deployment(durable_dsn, 2) as deployed:
        await deployed.add_partitions(3)
        async with deployed.open(3) as third:
            assert third.partition.state.message_homes == 2
