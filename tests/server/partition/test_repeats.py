"""Repeats of commands that the partition has forgotten: the ledger remembers them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest

from server.engine import commands, job_commands, process_instance_commands
from server.engine.answers import DONE
from server.engine.keys import Key
from server.partition.config import PartitionConfig
from server.partition.idempotency import IdempotencyKey
from server.partition.origin import Origin
from server.platform.errors import IdempotencyConflict, NotFound, Unavailable
from server.store.ports import Batch, StoredAnswer
from tests.durable import EPOCH
from tests.server.partition.harness import Harness, Serving, activation, completion, creation
from tests.waits import until


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
