import asyncio
from typing import Any

import pytest

from server.bpmn.builder import process
from server.engine import commands
from server.engine.keys import Key
from server.partition.config import QuotaConfig
from server.partition.quota import Quota
from server.platform.errors import QuotaExhausted
from tests.server.engine.scenario import resource
from tests.server.partition.durable import deployment
from tests.server.partition.harness import Harness, Serving, completion, creation

ORDER = resource(process("order").service_task("a", type="a").end())
TWO = QuotaConfig(max_active_instances=2)


def of_other() -> commands.Command:
    return commands.CreateProcessInstance(tenant_id="other", process_definition_id="order")


async def outcomes(harness: Harness, count: int) -> list[str]:
    """What becomes of so many starts at once."""
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
            end = commands.CancelProcessInstance("default", key)

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


async def test_what_is_active_elsewhere_counts_as_soon_as_it_is_told(serving: Serving) -> None:
    quota = Quota(TWO)
    async with serving(quota=quota) as harness:
        quota.tell_of_others({"default": 1})

        told = await outcomes(harness, 2)
        quota.tell_of_others({})

        assert told == ["started", "QuotaExhausted"]
        assert await outcomes(harness, 1) == ["started"]


async def test_without_a_quota_there_is_no_bound(serving: Serving) -> None:
    async with serving(quota=Quota(QuotaConfig())) as harness:
        assert await outcomes(harness, 20) == ["started"] * 20


def test_only_starts_are_held_back() -> None:
    quota = Quota(TWO, {"default": 2})

    quota.check(commands.CancelProcessInstance("default", Key(1)))

    with pytest.raises(QuotaExhausted):
        quota.check(creation())


async def test_partitions_tell_each_other_what_is_active(durable_dsn: str) -> None:
    """The quota of this deployment is three."""
    async with deployment(durable_dsn, 2) as deployed, deployed.open(1) as first, deployed.open(2) as second:
        await first.submit(commands.DeployResources("default", (ORDER,)))
        await second.catch_up()
        for _ in range(2):
            await first.submit(creation())

        await second.partition.refresh_quota()

        await second.submit(creation())
        with pytest.raises(QuotaExhausted):
            await second.submit(creation())


async def test_the_count_is_that_of_the_owner_before(durable_dsn: str) -> None:
    async with deployment(durable_dsn) as deployed:
        async with deployed.open() as local:
            await local.submit(commands.DeployResources("default", (ORDER,)))
            for _ in range(3):
                await local.submit(creation())

        async with deployed.open() as local:
            with pytest.raises(QuotaExhausted):
                await local.submit(creation())
