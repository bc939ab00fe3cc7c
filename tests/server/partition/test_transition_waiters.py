"""Callers that wait for the listeners of a user task."""

import asyncio

import pytest

from server.bpmn.builder import process
from server.engine import job_commands, process_instance_commands, user_task_commands
from server.engine.answers import DONE
from server.engine.job_results import UserTaskResult
from server.engine.keys import Key
from server.partition.config import InstancesConfig
from server.partition.idempotency import IdempotencyKey
from server.partition.origin import Origin
from server.platform.errors import DeadlineExceeded, InvalidState, Unavailable
from tests.server.partition.harness import Harness, Serving, activation
from tests.waits import until

ASKED = process("asked").user_task("approve").task_listener("completing", type="ask").end()
SHORT = InstancesConfig(await_completion_seconds=0.02)
KEYED = Origin("default", "ann", "r-1", IdempotencyKey("default", "k-1", b"hash"))


async def begun(harness: Harness) -> Key:
    """Key of a user task."""
    await harness.deploy(ASKED)
    await harness.submit(
        process_instance_commands.CreateProcessInstance(tenant_id="default", process_definition_id="asked")
    )
    (instance,) = harness.state.instances.values()
    (key,) = instance.user_tasks
    return key


async def answer(harness: Harness, result: UserTaskResult | None = None) -> None:
    (job,) = (await harness.submit(activation(job_type="ask"))).jobs
    await harness.submit(job_commands.CompleteJob("default", job.key, result=result))


async def test_a_caller_is_answered_when_all_listeners_agree(serving: Serving) -> None:
    async with serving() as harness:
        completing = harness.spawn(
            harness.submit(user_task_commands.CompleteUserTask("default", await begun(harness)))
        )
        await until(lambda: harness.partition.waiting_for_listeners)

        await answer(harness)

        assert await completing == DONE
        assert harness.partition.waiting_for_listeners == 0


async def test_a_caller_learns_why_a_listener_denied(serving: Serving) -> None:
    async with serving() as harness:
        completing = harness.spawn(
            harness.submit(user_task_commands.CompleteUserTask("default", await begun(harness)))
        )
        await until(lambda: harness.partition.waiting_for_listeners)

        await answer(harness, UserTaskResult(is_denied=True, denied_reason="too early"))

        with pytest.raises(InvalidState, match="too early"):
            await completing


async def test_a_caller_that_waited_too_long_asks_again_under_its_key(serving: Serving) -> None:
    async with serving(instances=SHORT) as harness:
        command = user_task_commands.CompleteUserTask("default", await begun(harness))
        with pytest.raises(DeadlineExceeded, match="still being called"):
            await harness.partition.submit(command, KEYED)
        with pytest.raises(DeadlineExceeded):
            await harness.partition.submit(command, KEYED)
        with pytest.raises(InvalidState, match="is COMPLETING"):
            await harness.submit(command)

        await answer(harness)

        assert await harness.partition.submit(command, KEYED) == DONE
        (stored,) = [each for batch in harness.store.batches for each in batch.answers]
        assert (stored.idempotency_key, stored.request_hash) == ("k-1", b"hash")


async def test_a_denied_command_can_be_repeated_under_its_key(serving: Serving) -> None:
    async with serving() as harness:
        command = user_task_commands.CompleteUserTask("default", await begun(harness))
        completing = harness.spawn(harness.partition.submit(command, KEYED))
        await until(lambda: harness.partition.waiting_for_listeners)
        await answer(harness, UserTaskResult(is_denied=True))
        with pytest.raises(InvalidState):
            await completing

        completing = harness.spawn(harness.partition.submit(command, KEYED))
        await until(lambda: harness.partition.waiting_for_listeners)
        await answer(harness)

        assert await completing == DONE


async def test_callers_wait_no_longer_than_their_partition_serves(serving: Serving) -> None:
    async with serving() as harness:
        completing = harness.spawn(
            harness.submit(user_task_commands.CompleteUserTask("default", await begun(harness)))
        )
        await until(lambda: harness.partition.waiting_for_listeners)

        harness.partition.drain()

        with pytest.raises(Unavailable, match="still being called"):
            await completing


async def test_a_place_to_wait_is_given_back(serving: Serving) -> None:
    async with serving(instances=InstancesConfig(max_awaiting=1)) as harness:
        first = await begun(harness)
        await harness.submit(
            process_instance_commands.CreateProcessInstance(
                tenant_id="default", process_definition_id="asked"
            )
        )
        second = next(
            key for each in harness.state.instances.values() for key in each.user_tasks if key != first
        )
        waiting = harness.spawn(harness.submit(user_task_commands.CompleteUserTask("default", first)))
        await until(lambda: harness.partition.waiting_for_listeners)

        with pytest.raises(DeadlineExceeded, match="wait already"):
            await harness.submit(user_task_commands.CompleteUserTask("default", second))
        waiting.cancel()
        await asyncio.wait([waiting])

        assert harness.partition.waiting_for_listeners == 0
