"""Repeats of commands that the partition has forgotten: the ledger remembers them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest

from server.bpmn.builder import process
from server.engine import (
    commands,
    deployment_commands,
    job_commands,
    process_instance_commands,
    tenant_commands,
    user_task_commands,
)
from server.engine.answers import DONE, CreatedInstance
from server.engine.keys import Key
from server.partition.config import InstancesConfig, PartitionConfig
from server.partition.idempotency import IdempotencyKey
from server.partition.origin import Origin
from server.platform.errors import (
    DeadlineExceeded,
    IdempotencyConflict,
    NotFound,
    ResourceExhausted,
    ServiceError,
    Unavailable,
)
from server.store.ports import Batch, StoredAnswer
from tests.durable import EPOCH
from tests.server.engine.scenario import resource
from tests.server.partition.durable import deployment
from tests.server.partition.harness import Harness, Serving, activation, completion, creation
from tests.waits import ticks, until


def keyed(key: str = "k-1", request: bytes = b"hash", tenant_id: str = "default") -> Origin:
    return Origin(tenant_id, "worker", "r-1", IdempotencyKey(tenant_id, key, request))


async def asked(harness: Harness, command: commands.Command, origin: Origin) -> object:
    return await harness.partition.submit(command, origin)


@asynccontextmanager
async def forgetful(serving: Serving) -> AsyncIterator[Harness]:
    """A partition that keeps no answer in memory once another one came."""
    async with serving(PartitionConfig(max_kept_answers=0)) as harness:
        yield harness


async def forgotten(harness: Harness) -> None:
    await asked(harness, activation(), keyed("another"))


async def test_a_repeat_gets_the_answer_that_was_stored_with_the_effect(in_postgres: Serving) -> None:
    async with forgetful(in_postgres) as harness:
        first = await asked(harness, creation(), keyed())
        await forgotten(harness)

        again = await asked(harness, creation(), keyed())

        assert again == first
        assert len(harness.state.instances) == 1


async def test_a_repeat_that_changes_nothing_writes_nothing(in_postgres: Serving) -> None:
    async with forgetful(in_postgres) as harness:
        await asked(harness, creation(), keyed())
        await forgotten(harness)
        harness.store.batches.clear()

        await asked(harness, creation(), keyed())

        assert harness.store.batches == []


async def test_another_request_under_the_key_is_a_conflict(in_postgres: Serving) -> None:
    async with forgetful(in_postgres) as harness:
        await asked(harness, creation(), keyed())
        await forgotten(harness)

        with pytest.raises(IdempotencyConflict):
            await asked(harness, creation(), keyed(request=b"another"))

        assert len(harness.state.instances) == 1


async def test_another_tenant_may_use_the_same_key(in_postgres: Serving) -> None:
    async with forgetful(in_postgres) as harness:
        await asked(harness, creation(), keyed())

        foreign = process_instance_commands.CreateProcessInstance(
            tenant_id="other", process_definition_id="order"
        )
        with pytest.raises(NotFound, match="no process definition"):
            await asked(harness, foreign, keyed(tenant_id="other"))


async def test_what_was_refused_is_not_kept(in_postgres: Serving) -> None:
    async with forgetful(in_postgres) as harness:
        with pytest.raises(NotFound):
            await asked(harness, job_commands.CompleteJob("default", Key(42)), keyed())

        await asked(harness, creation(), keyed())

        assert len(harness.state.instances) == 1


async def test_repeats_and_others_go_together(in_postgres: Serving) -> None:
    async with forgetful(in_postgres) as harness:
        first = await asked(harness, creation(), keyed())
        await forgotten(harness)

        again, other = await asyncio.gather(
            asked(harness, creation(), keyed()), asked(harness, creation(), keyed("k-2"))
        )

        assert again == first != other
        assert len(harness.state.instances) == 2


async def test_what_is_under_way_is_never_forgotten(serving: Serving) -> None:
    async with forgetful(serving) as harness:
        harness.store.hold()
        commands_ = [asked(harness, creation(), keyed(f"k-{n % 3}")) for n in range(9)]
        answers = asyncio.gather(*commands_)
        await until(lambda: harness.store.committing)
        harness.store.release(9)

        await answers

        assert len(harness.state.instances) == 3


async def test_a_job_is_completed_once_however_often_it_is_said(in_postgres: Serving) -> None:
    async with forgetful(in_postgres) as harness:
        await harness.start()
        (instance,) = harness.state.instances.values()
        command, origin = completion(instance), keyed()

        for _ in range(3):
            assert await asked(harness, command, origin) == DONE
            await forgotten(harness)


async def test_while_the_ledger_cannot_be_read_commands_with_a_key_are_refused_alone(
    in_memory: Serving,
) -> None:
    async with in_memory() as harness:
        harness.store.unreadable = Unavailable("the database does not answer")

        with pytest.raises(Unavailable, match="the database does not answer"):
            await asked(harness, creation(), keyed())

        await harness.start()
        harness.store.unreadable = None
        await asked(harness, creation(), keyed())
        assert len(harness.state.instances) == 2


async def test_a_stored_answer_of_a_later_version_is_left_to_a_node_that_can_read_it(
    in_postgres: Serving,
) -> None:
    async with forgetful(in_postgres) as harness:
        later = msgspec.msgpack.encode(("Teleported", {}))
        await harness.store.commit(Batch(answers=[StoredAnswer("default", "k-1", b"hash", later, EPOCH)]))

        with pytest.raises(Unavailable, match="the stored answer cannot be read by this node"):
            await asked(harness, creation(), keyed())

        assert harness.state.instances == {}


async def looked_up(harness: Harness, *origins: Origin) -> list["asyncio.Task[object]"]:
    """One creation for each origin, while the look-up of the first is under way."""
    harness.store.hold_reads()
    callers = [harness.spawn(asked(harness, creation(), origin)) for origin in origins]
    await until(lambda: harness.store.reading)
    await ticks(5)
    return callers


async def test_only_the_caller_of_a_command_waits_for_its_look_up(serving: Serving) -> None:
    async with serving() as harness:
        (caller,) = await looked_up(harness, keyed())

        other = harness.spawn(harness.start())

        await until(other.done)
        assert not caller.done()
        harness.store.let_read()
        assert isinstance(await caller, CreatedInstance)
        assert len(harness.state.instances) == 2


async def test_two_requests_at_once_under_one_key_take_effect_once(serving: Serving) -> None:
    async with serving() as harness:
        first, second = await looked_up(harness, keyed(), keyed())

        harness.store.let_read()

        assert await first == await second
        assert len(harness.state.instances) == 1


async def test_another_request_under_a_key_that_is_being_looked_up_is_a_conflict(serving: Serving) -> None:
    async with serving() as harness:
        first, other = await looked_up(harness, keyed(), keyed(request=b"another"))

        with pytest.raises(IdempotencyConflict):
            await other

        harness.store.let_read()
        assert isinstance(await first, CreatedInstance)


async def test_a_command_whose_caller_leaves_during_its_look_up_is_executed(serving: Serving) -> None:
    async with serving() as harness:
        (caller,) = await looked_up(harness, keyed())
        caller.cancel()
        await asyncio.wait([caller])

        harness.store.let_read()

        again = await asked(harness, creation(), keyed())
        (instance,) = harness.state.instances
        assert isinstance(again, CreatedInstance)
        assert again.head.key == instance


async def test_commands_with_keys_keep_the_order_in_which_they_came(serving: Serving) -> None:
    async with serving() as harness:
        callers = await looked_up(harness, *(keyed(f"k-{number}") for number in range(5)))

        harness.store.let_read()

        keys = [answer.head.key for caller in callers if isinstance(answer := await caller, CreatedInstance)]
        assert len(keys) == 5
        assert keys == sorted(keys)


async def test_a_later_command_of_the_same_caller_does_not_overtake_the_one_with_a_key(
    serving: Serving,
) -> None:
    async with serving() as harness:
        (first,) = await looked_up(harness, keyed())
        second = harness.spawn(asked(harness, creation(), Origin("default", "worker", "r-2")))
        other = harness.spawn(asked(harness, creation(), Origin("default", "another worker", "r-3")))
        await until(other.done)
        await ticks(5)

        assert not second.done()
        harness.store.let_read()

        one, two = await first, await second
        assert isinstance(one, CreatedInstance)
        assert isinstance(two, CreatedInstance)
        assert one.head.key < two.head.key


async def test_a_partition_that_stops_executes_the_commands_that_it_looks_up(serving: Serving) -> None:
    async with serving() as harness:
        first, second = await looked_up(harness, keyed("k-1"), keyed("k-2"))
        harness.partition.stop()
        await ticks(20)

        harness.store.let_read()

        assert isinstance(await first, CreatedInstance)
        assert isinstance(await second, CreatedInstance)
        assert harness.running is not None
        await harness.running


async def test_a_partition_that_ends_refuses_the_commands_that_it_looks_up(serving: Serving) -> None:
    async with serving() as harness:
        callers = await looked_up(harness, keyed("k-1"), keyed("k-2"))

        assert harness.running is not None
        harness.running.cancel()

        for caller in callers:
            with pytest.raises(Unavailable, match="the partition stopped serving"):
                await caller


async def test_a_command_that_was_refused_during_its_look_up_takes_effect_only_when_it_is_repeated(
    serving: Serving,
) -> None:
    async with serving(PartitionConfig(commit_seconds=0.2)) as harness:
        harness.store.hold()
        late = harness.spawn(harness.submit(creation()))
        await until(lambda: harness.store.committing)
        callers = await looked_up(harness, keyed())
        for refused in (late, *callers):
            with pytest.raises(Unavailable):
                await refused
        harness.store.release(10)
        await until(lambda: harness.partition.is_open)

        harness.store.let_read()

        await asked(harness, creation(), keyed())
        assert len(harness.state.instances) == 2


async def test_commands_that_are_looked_up_count_as_waiting(serving: Serving) -> None:
    async with serving(PartitionConfig(max_tenant_queued=2)) as harness:
        callers = await looked_up(harness, keyed("k-1"), keyed("k-2"), keyed("k-3"))

        with pytest.raises(ResourceExhausted, match="2 commands of the tenant wait already"):
            await callers[2]

        assert harness.partition.queued == {"default": 2}
        harness.store.let_read()
        await asyncio.gather(*callers[:2])
        assert harness.partition.queued == {}


async def test_a_repeat_is_not_answered_with_what_a_removed_tenant_stored(in_postgres: Serving) -> None:
    async with forgetful(in_postgres) as harness:
        await asked(harness, creation(), keyed())
        await forgotten(harness)
        (caller,) = await looked_up(harness, keyed())

        await harness.submit(tenant_commands.MarkTenant("default", 1))
        harness.store.let_read()

        with pytest.raises(ServiceError):
            await caller


async def test_a_repeat_that_was_looked_up_before_the_listeners_agreed_gets_the_final_answer(
    serving: Serving,
) -> None:
    async with serving(instances=InstancesConfig(await_completion_seconds=0.02)) as harness:
        await harness.deploy(
            process("asked").user_task("approve").task_listener("completing", type="ask").end()
        )
        await harness.submit(creation(process_id="asked"))
        (instance,) = harness.state.instances.values()
        (user_task,) = instance.user_tasks
        command = user_task_commands.CompleteUserTask("default", user_task)
        with pytest.raises(DeadlineExceeded):
            await asked(harness, command, keyed())
        (job,) = (await harness.submit(activation(job_type="ask"))).jobs
        harness.store.hold_reads()
        repeat = harness.spawn(asked(harness, command, keyed()))
        await ticks(5)

        harness.store.hold()
        agreed = harness.spawn(harness.submit(job_commands.CompleteJob("default", job.key)))
        await until(lambda: harness.store.committing)
        harness.store.let_read()
        await ticks(50)
        harness.store.release(10)

        assert await repeat == DONE
        await agreed


async def test_a_repeat_at_the_next_owner_gets_the_answer_that_the_last_one_committed(
    durable_dsn: str,
) -> None:
    async with deployment(durable_dsn) as nodes:
        async with nodes.open() as first:
            await first.submit(
                deployment_commands.DeployResources(
                    "default", (resource(process("order").service_task("a", type="a").end()),)
                )
            )
            answer = await first.submit(creation(), keyed())

        async with nodes.open() as second:
            again = await second.submit(creation(), keyed())

            assert again == answer
            assert len(second.partition.state.instances) == 1
