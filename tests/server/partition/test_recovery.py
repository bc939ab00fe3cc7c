"""What a new owner makes of what the database holds."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

import asyncpg
import msgspec
import pytest

from server.bpmn.builder import process
from server.engine import commands, events
from server.engine.documents import pack
from server.engine.keys import Key, first_key
from server.partition.config import PartitionConfig
from server.partition.recovery import Recovered, recovered
from server.platform.errors import QuotaExhausted
from server.store.ports import PartitionId
from server.store.postgres.leases import Lease
from tests.durable import EPOCH
from tests.server.engine.scenario import MINUTE, Scenario, resource
from tests.server.partition.durable import deployment
from tests.server.partition.harness import activation, completion_of, creation
from tests.waiting import until_so

LEASE = Lease(PartitionId(1), epoch=3, position=7, last_key=Key(first_key(1) + 1_000))
ORDER = process("order").service_task("a", type="a").end()


@pytest.fixture
def busy() -> Scenario:
    """Four process instances: a job is activated, one backs off, one was offered anew, one is on offer."""
    scenario = Scenario().deploy(ORDER)
    for _ in range(4):
        scenario.start()
    scenario.activate("a", most=1, timeout=MINUTE)
    (job,) = scenario.activate("a", most=1)
    back_off = timedelta(hours=1)
    scenario.execute(
        commands.FailJob(tenant_id="default", job_key=job.key, retries=1, retry_back_off=back_off)
    )
    scenario.fail("a", retries=1)
    return scenario


async def found(scenario: Scenario, most_loaded: int, chunk: int = 2) -> Recovered:
    encode = msgspec.msgpack.Encoder().encode
    deployed = [event for event in scenario.events if isinstance(event, events.ProcessDefinitionDeployed)]
    documents = [(key, pack(instance)) for key, instance in scenario.state.instances.items()]

    async def chunks() -> AsyncIterator[Sequence[tuple[Key, bytes]]]:
        for first in range(0, len(documents), chunk):
            yield documents[first : first + chunk]

    return await recovered(LEASE, map(encode, deployed), chunks(), most_loaded)


@pytest.mark.parametrize("chunk", [1, 3, 100])
async def test_everything_is_as_it_was_however_it_is_read(busy: Scenario, chunk: int) -> None:
    state = (await found(busy, 100, chunk)).state

    busy.state.last_key = state.last_key
    assert state == busy.state


async def test_keys_go_on_where_the_owner_before_left_off(busy: Scenario) -> None:
    assert (await found(busy, 100)).state.last_key == LEASE.last_key


async def test_the_youngest_stay_in_memory_and_of_the_others_the_indexes(busy: Scenario) -> None:
    *others, third, fourth = busy.state.instances

    state = (await found(busy, 2)).state

    assert (set(state.instances), state.evicted) == ({third, fourth}, set(others))
    assert (state.job_owners, state.offers) == (busy.state.job_owners, busy.state.offers)


@pytest.mark.parametrize("most_loaded", [0, 100])
async def test_what_time_will_bring_is_known_of_all(busy: Scenario, most_loaded: int) -> None:
    due = (await found(busy, most_loaded)).due

    assert list(due.take(EPOCH + timedelta(days=1), 100)) == list(
        busy.due.take(EPOCH + timedelta(days=1), 100)
    )


@pytest.mark.parametrize("most_loaded", [0, 100])
async def test_active_instances_are_counted_by_tenant(busy: Scenario, most_loaded: int) -> None:
    assert (await found(busy, most_loaded)).active == Counter({"default": 4})


async def is_all_moved(pool: asyncpg.Pool) -> bool:
    """Whether nothing that has ended lies among the live."""
    return not await pool.fetchval("SELECT count(*) FROM runtime.process_instance WHERE state <> 'ACTIVE'")


SMALL = PartitionConfig(max_loaded_instances=1)


async def test_a_partition_that_comes_back_goes_on(durable_dsn: str) -> None:
    """Jobs, time and quota are as its last owner left them, although one process instance alone is in memory."""
    async with deployment(durable_dsn, config=SMALL) as deployed:
        async with deployed.open() as local:
            await local.submit(commands.DeployResources("default", (resource(ORDER),)))
            keys = [(await local.submit(creation())).head.key for _ in range(3)]  # type: ignore[union-attr]
            (job,) = (await local.activate(activation(timeout=MINUTE), 0)).jobs

        deployed.clock.advance(MINUTE)
        async with deployed.open() as local:
            await local.partition.settle()
            jobs = (await local.activate(activation(10), 0)).jobs
            with pytest.raises(QuotaExhausted):
                await local.submit(creation())
            for each in jobs:
                await local.submit(completion_of(each.key))
            again = await local.submit(creation())

        assert job.instance.key == keys[0]
        assert [each.instance.key for each in jobs] == [*keys[1:], keys[0]]
        assert again.head.key > max(keys)  # type: ignore[union-attr]


async def test_what_ended_before_the_owner_could_move_it_is_moved_by_the_next(durable_dsn: str) -> None:
    async with deployment(durable_dsn) as deployed:
        async with deployed.open() as local:
            await local.submit(commands.DeployResources("default", (resource(process("order").end()),)))
            await local.submit(creation())
        left = await deployed.pool.fetchval("SELECT count(*) FROM runtime.process_instance")

        async with deployed.open():
            await until_so(lambda: is_all_moved(deployed.pool))

        kept = await deployed.pool.fetchval("SELECT count(*) FROM history.process_instance")
        assert (left, kept) == (1, 1)
