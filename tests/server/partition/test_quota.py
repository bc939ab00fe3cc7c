import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from server.bpmn.builder import process
from server.engine import commands, deployment_commands, process_instance_commands, signal_commands
from server.engine.answers import CreatedInstance
from server.engine.keys import Key
from server.partition.config import QuotaConfig
from server.partition.local import LocalPartition
from server.partition.quota import Quota
from server.platform.errors import NotFound, QuotaExhausted, Unavailable
from server.platform.postgres.pooled import PooledDatabase
from server.store.postgres.leases import Leases
from server.store.postgres.ledger import PostgresLedger
from tests.durable import NODE, taken
from tests.server.engine.scenario import resource
from tests.server.partition.durable import Deployment, deployment
from tests.server.partition.harness import (
    Harness,
    Serving,
    activation,
    completion,
    completion_of,
    creation,
)

ORDER = resource(process("order").service_task("a", type="a").end())
TWO = QuotaConfig(max_active_instances=2)


def of_other() -> commands.Command:
    return process_instance_commands.CreateProcessInstance(tenant_id="other", process_definition_id="order")


async def outcomes(harness: Harness, count: int) -> list[str]:
    """The outcomes of `count` starts at once."""
    results = await asyncio.gather(*(harness.start() for _ in range(count)), return_exceptions=True)
    return ["started" if isinstance(result, int) else type(result).__name__ for result in results]


async def test_of_starts_at_once_so_many_succeed_as_the_quota_allows(serving: Serving) -> None:
    async with serving(quota=Quota(TWO)) as harness:
        assert await outcomes(harness, 5) == ["started"] * 2 + ["QuotaExhausted"] * 3

        assert len(harness.state.instances) == 2
        assert sum(harness.store.active.values()) == 2


@pytest.mark.parametrize("ends_by", ["completion", "cancellation"])
async def test_an_end_makes_room(serving: Serving, ends_by: str) -> None:
    async with serving(quota=Quota(TWO)) as harness:
        await outcomes(harness, 2)
        key, instance = next(iter(harness.state.instances.items()))
        end: Any = completion(instance)
        if ends_by == "cancellation":
            end = process_instance_commands.CancelProcessInstance("default", key)

        await harness.submit(end)

        assert await outcomes(harness, 2) == ["started", "QuotaExhausted"]


async def test_a_refusal_says_what_the_quota_is(serving: Serving) -> None:
    async with serving(quota=Quota(TWO)) as harness:
        await outcomes(harness, 2)

        with pytest.raises(
            QuotaExhausted, match="tenant 'default' has 2 active process instances, its quota is 2"
        ):
            await harness.start()


async def test_tenants_have_quotas_of_their_own(serving: Serving) -> None:
    async with serving(quota=Quota(TWO, {"other": 2})) as harness:
        with pytest.raises(QuotaExhausted):
            await harness.submit(of_other())

        assert await outcomes(harness, 2) == ["started"] * 2


async def test_what_was_active_before_counts(serving: Serving) -> None:
    async with serving(quota=Quota(TWO, {"default": 1})) as harness:
        assert await outcomes(harness, 2) == ["started", "QuotaExhausted"]


async def test_instances_that_events_begin_count_and_are_not_refused(serving: Serving) -> None:
    begun = process("alarm").start_signal("begun", signal="alarm").service_task("b", type="b").end()
    async with serving(quota=Quota(TWO)) as harness:
        await harness.deploy(begun)
        for _ in range(3):
            await harness.submit(signal_commands.BroadcastSignal("default", "alarm"))
        assert len(harness.state.instances) == 3

        with pytest.raises(QuotaExhausted, match="has 3 active process instances, its quota is 2"):
            await harness.start()


async def test_without_a_quota_there_is_no_bound(serving: Serving) -> None:
    async with serving(quota=Quota(QuotaConfig())) as harness:
        assert await outcomes(harness, 20) == ["started"] * 20


def test_only_starts_are_held_back() -> None:
    quota = Quota(TWO, {"default": 2})

    quota.check(process_instance_commands.CancelProcessInstance("default", Key(1)))

    with pytest.raises(QuotaExhausted):
        quota.check(creation())


@asynccontextmanager
async def two_partitions(dsn: str) -> AsyncIterator[tuple[Deployment, Sequence[LocalPartition]]]:
    """The quota of this deployment is three."""
    async with deployment(dsn, 2) as deployed, deployed.open(1) as first, deployed.open(2) as second:
        await first.submit(deployment_commands.DeployResources("default", (ORDER,)))
        await second.catch_up()
        yield deployed, (first, second)


async def reservations(deployed: Deployment) -> int:
    found = await deployed.pool.fetch("SELECT count(*) FROM gnomon.quota_reservation")
    return int(found[0][0])


async def test_the_quota_is_exact_for_a_caller_of_all_partitions(durable_dsn: str) -> None:
    async with two_partitions(durable_dsn) as (_, partitions):
        for number in range(3):
            await partitions[number % 2].submit(creation())

        for local in partitions:
            with pytest.raises(QuotaExhausted):
                await local.submit(creation())


async def test_an_end_in_one_partition_makes_room_in_another(durable_dsn: str) -> None:
    async with two_partitions(durable_dsn) as (_, (first, second)):
        for _ in range(3):
            await first.submit(creation())
        (job,) = (await first.activate(activation(), 0)).jobs

        await first.submit(completion_of(job.key))

        await second.submit(creation())
        with pytest.raises(QuotaExhausted):
            await first.submit(creation())


async def test_the_quota_is_exact_for_callers_at_once(durable_dsn: str) -> None:
    async with two_partitions(durable_dsn) as (deployed, partitions):
        starts = [partitions[number % 2].submit(creation()) for number in range(40)]

        outcomes = Counter(map(type, await asyncio.gather(*starts, return_exceptions=True)))

        assert outcomes == {CreatedInstance: 3, QuotaExhausted: 37}
        assert await reservations(deployed) == 0


async def test_a_start_that_fails_uses_no_room(durable_dsn: str) -> None:
    async with two_partitions(durable_dsn) as (deployed, (first, second)):
        for local in (first, second) * 3:
            with pytest.raises(NotFound):
                await local.submit(creation(process_id="nothing"))
        for _ in range(3):
            await second.submit(creation())

        assert await reservations(deployed) == 0


async def test_what_an_owner_reserved_before_it_died_is_free_again(durable_dsn: str) -> None:
    async with deployment(durable_dsn, 2) as deployed:
        database, lease = PooledDatabase(deployed.pool), await taken(deployed.pool)
        async with PostgresLedger(durable_dsn, lease, database=database, statement_seconds=30) as ledger:
            assert (await ledger.reserve({"default": 2}, 3)).granted == {"default": 2}
        await Leases(database).release(lease, NODE)

        async with deployed.open(1) as first, deployed.open(2) as second:
            await first.submit(deployment_commands.DeployResources("default", (ORDER,)))
            await second.catch_up()
            for _ in range(3):
                await second.submit(creation())
            assert await reservations(deployed) == 0


async def test_a_refusal_says_when_to_try_again(durable_dsn: str) -> None:
    async with two_partitions(durable_dsn) as (_, (first, _)):
        for _ in range(3):
            await first.submit(creation())

        with pytest.raises(QuotaExhausted) as refusal:
            await first.submit(creation())

        assert refusal.value.metadata == {"retry_after_secs": "1"}


async def test_starts_are_refused_while_the_ledger_is_away(in_memory: Serving) -> None:
    async with in_memory(quota=Quota(TWO)) as harness:
        harness.store.unreadable = Unavailable("the database does not answer")

        with pytest.raises(Unavailable, match="the database does not answer"):
            await harness.start()

        harness.store.unreadable = None
        assert await outcomes(harness, 3) == ["started"] * 2 + ["QuotaExhausted"]


async def test_the_count_is_that_of_the_owner_before(durable_dsn: str) -> None:
    async with deployment(durable_dsn) as deployed:
        async with deployed.open() as local:
            await local.submit(deployment_commands.DeployResources("default", (ORDER,)))
            for _ in range(3):
                await local.submit(creation())

        async with deployed.open() as local:
            with pytest.raises(QuotaExhausted):
                await local.submit(creation())


CALLING = process("calling").start().call_activity("call", process="order").end()


async def test_a_call_beyond_the_quota_is_an_incident_that_can_be_resolved_when_there_is_room(
    serving: Serving,
) -> None:
    async with serving(quota=Quota(TWO)) as harness:
        await harness.submit(deployment_commands.DeployResources("default", (resource(CALLING),)))
        other = await harness.start()
        calling = process_instance_commands.CreateProcessInstance(
            tenant_id="default", process_definition_id="calling"
        )
        caller = (await harness.submit(calling)).head.key

        ((incident_key, incident),) = harness.state.instances[caller].incidents.items()
        assert incident.error_type == "CALLED_ELEMENT_ERROR"

        await harness.submit(process_instance_commands.CancelProcessInstance("default", other))
        await harness.submit(process_instance_commands.ResolveIncident("default", incident_key))
        assert len(harness.state.instances) == 2
        assert sum(harness.store.active.values()) == 2


async def test_one_command_calls_as_many_as_the_quota_allows(serving: Serving) -> None:
    many = (
        process("calling").start().call_activity("call", process="order").multi_instance("=[1, 2, 3]").end()
    )
    async with serving(quota=Quota(QuotaConfig(max_active_instances=3))) as harness:
        await harness.submit(deployment_commands.DeployResources("default", (resource(many),)))

        await harness.submit(
            process_instance_commands.CreateProcessInstance(
                tenant_id="default", process_definition_id="calling"
            )
        )

        assert len(harness.state.instances) == 3
        assert sum(len(instance.incidents) for instance in harness.state.instances.values()) == 1
