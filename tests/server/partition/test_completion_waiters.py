import asyncio

import pytest

from server.engine import process_instance_commands
from server.engine.keys import Key
from server.partition.completion_waiters import CompletionWaiters
from server.partition.config import InstancesConfig
from server.platform.errors import DeadlineExceeded, InvalidState, NotFound, ResourceExhausted, Unavailable
from tests.server.partition.harness import Harness, Serving, completion
from tests.waits import ticks, until


def completions(harness: Harness, most: int = 10) -> CompletionWaiters:
    return CompletionWaiters(harness.partition, harness.store, InstancesConfig(max_awaiting=most))


async def end(harness: Harness, key: Key) -> None:
    await harness.submit(completion(harness.state.instances[key]))


async def test_a_caller_waits_until_the_instance_has_completed(serving: Serving) -> None:
    async with serving() as harness:
        waiters, key = completions(harness), await harness.start()
        waiting = harness.spawn(waiters.completed(key, "default", 60))
        await ticks(20)
        early = waiting.done()

        await end(harness, key)

        await waiting
        assert not early


async def test_an_instance_that_completed_before_needs_no_waiting(serving: Serving) -> None:
    async with serving() as harness:
        waiters, key = completions(harness), await harness.start()
        await end(harness, key)

        await waiters.completed(key, "default", 60)


async def test_a_completion_counts_when_it_is_committed(serving: Serving) -> None:
    async with serving() as harness:
        waiters, key = completions(harness), await harness.start()
        waiting = harness.spawn(waiters.completed(key, "default", 60))
        await ticks(5)
        harness.store.hold()
        harness.spawn(end(harness, key))
        await until(lambda: harness.store.committing)
        await ticks(20)
        early = waiting.done()

        harness.store.release()

        await waiting
        assert not early


@pytest.mark.parametrize("is_before", [True, False])
async def test_a_cancelled_instance_never_completes(serving: Serving, *, is_before: bool) -> None:
    async with serving() as harness:
        waiters, key = completions(harness), await harness.start()
        cancellation = process_instance_commands.CancelProcessInstance("default", key)
        if is_before:
            await harness.submit(cancellation)
        waiting = harness.spawn(waiters.completed(key, "default", 60))
        await ticks(5)
        if not is_before:
            await harness.submit(cancellation)

        with pytest.raises(InvalidState, match=f"process instance {key} is TERMINATED, not COMPLETED"):
            await waiting


async def test_a_caller_that_waited_too_long_is_told_that_the_instance_goes_on(serving: Serving) -> None:
    async with serving() as harness:
        waiters, key = completions(harness), await harness.start()

        with pytest.raises(
            DeadlineExceeded, match=f"process instance {key} did not end within 0.001 s; it continues"
        ):
            await waiters.completed(key, "default", 0.001)

        assert key in harness.state.instances


@pytest.mark.parametrize("tenant_id", ["default", "other"])
async def test_what_is_not_the_tenants_is_not_found(serving: Serving, tenant_id: str) -> None:
    async with serving() as harness:
        waiters, key = completions(harness), await harness.start()
        wanted = key if tenant_id == "other" else Key(42)

        with pytest.raises(NotFound):
            await waiters.completed(wanted, tenant_id, 60)


async def test_several_callers_wait_for_one_instance(serving: Serving) -> None:
    async with serving() as harness:
        waiters, key = completions(harness), await harness.start()
        waiting = [harness.spawn(waiters.completed(key, "default", 60)) for _ in range(3)]
        await ticks(5)

        await end(harness, key)

        assert await asyncio.gather(*waiting) == [None, None, None]


async def test_the_end_of_another_instance_wakes_nobody(serving: Serving) -> None:
    async with serving() as harness:
        waiters, key, other = completions(harness), await harness.start(), await harness.start()
        waiting = harness.spawn(waiters.completed(key, "default", 60))
        await ticks(5)

        await end(harness, other)
        await ticks(20)

        assert not waiting.done()


async def test_so_many_callers_may_wait_and_no_more(serving: Serving) -> None:
    async with serving() as harness:
        waiters, key = completions(harness, most=2), await harness.start()
        waiting = [harness.spawn(waiters.completed(key, "default", 60)) for _ in range(2)]
        await ticks(5)

        with pytest.raises(ResourceExhausted):
            await waiters.completed(key, "default", 60)

        waiting[0].cancel()
        await asyncio.wait(waiting[:1])
        late = harness.spawn(waiters.completed(key, "default", 60))
        await end(harness, key)
        await late


async def test_callers_of_one_tenant_leave_room_for_those_of_others(serving: Serving) -> None:
    async with serving() as harness:
        config = InstancesConfig(max_tenant_awaiting=1)
        waiters, key = CompletionWaiters(harness.partition, harness.store, config), await harness.start()
        waiting = harness.spawn(waiters.completed(key, "default", 60))
        await ticks(5)

        with pytest.raises(ResourceExhausted, match="1 calls for a completion of the tenant wait already"):
            await waiters.completed(key, "default", 60)
        with pytest.raises(NotFound):
            await waiters.completed(key, "other", 60)

        await end(harness, key)
        await waiting


async def test_callers_are_refused_when_the_partition_ends(serving: Serving) -> None:
    async with serving() as harness:
        waiters, key = completions(harness), await harness.start()
        waiting = harness.spawn(waiters.completed(key, "default", 60))
        await ticks(5)
        assert harness.running is not None

        harness.running.cancel()

        with pytest.raises(Unavailable):
            async with asyncio.timeout(1):
                await waiting
