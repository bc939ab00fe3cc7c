"""Recovery of a partition from the database by its new owner."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import TypeVar

import asyncpg
import msgspec
import pytest

from server.bpmn.builder import process
from server.engine import deployment_commands, events, job_commands
from server.engine import process as handle
from server.engine.definitions import executable_processes
from server.engine.formats import UnreadableFormat
from server.engine.keys import Key, first_key
from server.engine.limits import ENTERING_STEPS, EngineLimits
from server.engine.pages import HEAD_PAGE
from server.partition.config import PartitionConfig
from server.partition.recovery import Recovered, recovered
from server.platform.errors import QuotaExhausted
from server.store.ports import PartitionId
from server.store.postgres.leases import Lease
from tests.durable import EPOCH
from tests.server.engine.scenario import MINUTE, Scenario, resource
from tests.server.engine.stored import id_of, pages_of
from tests.server.partition.durable import deployment
from tests.server.partition.harness import activation, completion_of, creation
from tests.waits import until_so

T = TypeVar("T")

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
        job_commands.FailJob(tenant_id="default", job_key=job.key, retries=1, retry_back_off=back_off)
    )
    scenario.fail("a", retries=1)
    return scenario


async def found(
    scenario: Scenario, most_loaded: int, chunk: int = 2, *, whole_records: int = 256
) -> Recovered:
    encode = msgspec.msgpack.Encoder().encode
    deployed = [event for event in scenario.events if isinstance(event, events.ProcessDefinitionDeployed)]
    documents = [
        (id_of(key), number, page)
        for key, instance in scenario.state.instances.items()
        for number, page in sorted(pages_of(instance, most=whole_records).items())
    ]
    definitions = [(event.key, encode(event)) for event in deployed]
    return await recovered(LEASE, chunks(definitions, chunk), chunks(documents, chunk), most_loaded)


async def chunks(packed: Sequence[T], chunk: int) -> AsyncIterator[Sequence[T]]:
    for first in range(0, len(packed), chunk):
        yield packed[first : first + chunk]


@pytest.mark.parametrize("whole_records", [0, 256])
@pytest.mark.parametrize("chunk", [1, 3, 100])
async def test_everything_is_as_it_was_however_it_is_stored_and_read(
    busy: Scenario, chunk: int, whole_records: int
) -> None:
    state = (await found(busy, 100, chunk, whole_records=whole_records)).state

    busy.state.last_key = state.last_key
    assert state == busy.state


async def test_a_process_with_an_expression_that_is_refused_now_is_recovered_with_the_others() -> None:
    refused = process("refused").service_task("b", type="=name == 1").end()
    scenario = Scenario().deploy(refused).deploy(ORDER).start()

    state = (await found(scenario, 100)).state

    scenario.state.last_key = state.last_key
    assert state == scenario.state


async def test_keys_go_on_where_the_owner_before_left_off(busy: Scenario) -> None:
    assert (await found(busy, 100)).state.last_key == LEASE.last_key


async def test_the_youngest_stay_in_memory_and_of_the_others_the_indexes(busy: Scenario) -> None:
    *others, third, fourth = busy.state.instances

    state = (await found(busy, 2)).state

    assert (set(state.instances), state.evicted) == ({third, fourth}, set(others))
    assert (state.owners, state.offers) == (busy.state.owners, busy.state.offers)


@pytest.mark.parametrize("most_loaded", [0, 100])
async def test_what_time_will_bring_is_known_of_all(busy: Scenario, most_loaded: int) -> None:
    due = (await found(busy, most_loaded)).due

    assert list(due.take(EPOCH + timedelta(days=1), 100)) == list(
        busy.due.take(EPOCH + timedelta(days=1), 100)
    )


async def test_postponed_work_is_due_since_it_was_postponed() -> None:
    scenario = Scenario(limits=EngineLimits(slice_steps=ENTERING_STEPS)).deploy(ORDER)
    scenario.happens(handle(scenario.state, creation(), scenario.now).events)
    (instance,) = scenario.state.instances.values()
    assert instance.work

    due = (await found(scenario, 100)).due

    assert scenario.now == due.next


@pytest.mark.parametrize("most_loaded", [0, 100])
async def test_active_instances_are_counted_by_tenant(busy: Scenario, most_loaded: int) -> None:
    assert (await found(busy, most_loaded)).active == Counter({"default": 4})


def versions(count: int) -> list[tuple[Key, bytes]]:
    """Definitions of one process, each with content of its own that was never compiled here."""
    scenario = Scenario()
    encode = msgspec.msgpack.Encoder().encode
    (event,) = (
        event
        for event in scenario.deploy(ORDER).events
        if isinstance(event, events.ProcessDefinitionDeployed)
    )
    return [
        (
            Key(event.key + number),
            encode(
                msgspec.structs.replace(
                    event,
                    key=Key(event.key + number),
                    version=number + 1,
                    content=event.content + b"<!-- %d of %d -->" % (number, count),
                )
            ),
        )
        for number in range(count)
    ]


async def test_definitions_are_compiled_when_they_are_needed() -> None:
    definitions = versions(50)
    before = executable_processes.cache_info().misses

    state = (await recovered(LEASE, chunks(definitions, 10), chunks((), 1), 100)).state

    read = executable_processes.cache_info().misses
    latest = state.latest("default", "order")
    assert latest is not None
    assert latest.process.id == "order"
    assert (before, before + 1) == (read, executable_processes.cache_info().misses)


async def test_other_tasks_run_between_the_chunks_of_a_recovery(busy: Scenario) -> None:
    rounds = 0

    async def others() -> None:
        nonlocal rounds
        while True:
            rounds += 1
            await asyncio.sleep(0)

    documents = [
        (id_of(key), HEAD_PAGE, pages_of(instance)[HEAD_PAGE])
        for key, instance in busy.state.instances.items()
    ]
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(others())
        await recovered(LEASE, chunks(versions(10), 1), chunks(documents, 1), 100)
        running.cancel()

    assert rounds >= 10 + len(documents)


async def is_all_moved(pool: asyncpg.Pool) -> bool:
    """Whether nothing that has ended lies among the live."""
    return not await pool.fetchval("SELECT count(*) FROM runtime.process_instance WHERE state <> 'ACTIVE'")


SMALL = PartitionConfig(max_loaded_instances=1)


async def test_a_partition_that_comes_back_goes_on(durable_dsn: str) -> None:
    """Jobs, time and quota are as its last owner left them, although one process instance alone is in memory."""
    async with deployment(durable_dsn, config=SMALL) as deployed:
        async with deployed.open() as local:
            await local.submit(deployment_commands.DeployResources("default", (resource(ORDER),)))
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
            await local.submit(
                deployment_commands.DeployResources("default", (resource(process("order").end()),))
            )
            await local.submit(creation())
        left = await deployed.pool.fetchval("SELECT count(*) FROM runtime.process_instance")

        async with deployed.open():
            await until_so(lambda: is_all_moved(deployed.pool))

        kept = await deployed.pool.fetchval("SELECT count(*) FROM history.process_instance")
        assert (left, kept) == (1, 1)


@pytest.mark.parametrize("is_document", [True, False])
async def test_what_a_later_version_wrote_is_reported_by_name(busy: Scenario, *, is_document: bool) -> None:
    """An element type, or an event, that is unknown here."""
    instance, *_ = busy.state.instances.values()
    page = pages_of(instance)[HEAD_PAGE]
    content = page.content.replace(b"\xacSERVICE_TASK", b"\xacWEATHER_TASK")
    later = msgspec.structs.replace(page, content=content)
    documents = [(id_of(Key(7)), HEAD_PAGE, later)] if is_document else []
    definitions = [] if is_document else [(Key(7), b"\x81\xa5event\xa8Teleport")]

    with pytest.raises(UnreadableFormat, match=r"process (instance|definition) 7 cannot be read"):
        await recovered(LEASE, chunks(definitions, 1), chunks(documents, 1), 100)
