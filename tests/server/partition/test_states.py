"""Each state of a partition, and what becomes of each call there."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from server.engine import State
from server.engine.answers import Answer
from server.engine.keys import Key
from server.partition.config import InstancesConfig, JobsConfig, PartitionConfig
from server.partition.idempotency import IdempotencyKey
from server.partition.lifecycle import PartitionState
from server.partition.local import LocalPartition
from server.partition.origin import Origin
from server.partition.partition import Partition
from server.partition.transitions import IllegalMove
from server.platform.clock import VirtualClock
from server.platform.errors import Unavailable
from tests.durable import EPOCH
from tests.server.partition.harness import Harness, Serving, activation, creation
from tests.waits import ticks, until

P = PartitionState

LATE = PartitionConfig(commit_seconds=0.01)


class BrokenStoreError(Exception):
    pass


@dataclass(frozen=True, slots=True)
class Staged:
    """A partition that a test has brought into a state, with a process instance that runs there."""

    local: LocalPartition
    instance: Key

    @property
    def state(self) -> PartitionState:
        return self.local.partition.lifecycle.state


Call = Callable[[Staged], Awaitable[object]]

COMMANDS: dict[str, Call] = {
    "submit": lambda staged: staged.local.submit(creation()),
    "settle": lambda staged: staged.local.partition.settle(),
    "note": lambda staged: staged.local.note(()),
    "catch_up": lambda staged: staged.local.catch_up(),
    "activate_now": lambda staged: staged.local.activate(activation(), 0),
}
WAITS: dict[str, Call] = {
    "await_offer": lambda staged: staged.local.await_offer(activation(job_type="none"), 60),
    "await_completion": lambda staged: staged.local.await_completion(staged.instance, "default", 60),
}

# The outcome of a command and of a wait in each state.
OUTCOMES: dict[PartitionState, tuple[str, str]] = {
    P.STARTING: ("refused", "waits"),
    P.OPEN: ("done", "waits"),
    P.SUSPENDED: ("refused", "waits"),
    P.DRAINING: ("done", "refused"),
    P.DRAINING_SUSPENDED: ("refused", "refused"),
    P.STOPPING: ("refused", "refused"),
    P.CLOSED: ("refused", "refused"),
    P.FAILED: ("refused", "refused"),
}
CELLS = [
    pytest.param(state, call, outcome, id=f"{state}-{name}")
    for state, outcomes in OUTCOMES.items()
    for calls, outcome in zip((COMMANDS, WAITS), outcomes, strict=True)
    for name, call in calls.items()
]


async def _suspended(harness: Harness) -> None:
    harness.store.hold()
    harness.spawn(harness.submit(creation()))
    await until(lambda: harness.partition.lifecycle.is_suspended)


async def _stopping(harness: Harness) -> None:
    harness.store.hold()
    harness.spawn(harness.submit(creation()))
    await until(lambda: harness.store.committing)
    harness.partition.stop()


async def _closed(harness: Harness) -> None:
    harness.partition.stop()
    await until(lambda: harness.running and harness.running.done())


async def _failed(harness: Harness) -> None:
    harness.store.failure = BrokenStoreError()
    with pytest.raises(Unavailable):
        await harness.start()
    await until(lambda: harness.running and harness.running.done())


async def _suspended_and_drained(harness: Harness) -> None:
    await _suspended(harness)
    harness.partition.drain()


async def _drained(harness: Harness) -> None:
    harness.partition.drain()


async def _left(_: Harness) -> None:
    pass


WAYS: dict[PartitionState, Callable[[Harness], Awaitable[None]]] = {
    P.STARTING: _left,
    P.OPEN: _left,
    P.SUSPENDED: _suspended,
    P.DRAINING: _drained,
    P.DRAINING_SUSPENDED: _suspended_and_drained,
    P.STOPPING: _stopping,
    P.CLOSED: _closed,
    P.FAILED: _failed,
}


@asynccontextmanager
async def staged(state: PartitionState, serving: Serving) -> AsyncIterator[Staged]:
    async with serving(LATE) as harness:
        instance, partition = await harness.start(), harness.partition
        if state is P.STARTING:
            partition = Partition(State(), harness.store, VirtualClock(pinned=EPOCH), LATE)
        local = LocalPartition(partition, harness.store, JobsConfig(), InstancesConfig())
        await WAYS[state](harness)
        yield Staged(local, instance)


async def _outcome(staged: Staged, call: Call) -> str:
    task = asyncio.ensure_future(call(staged))
    await ticks(50)
    if not task.done():
        task.cancel()
        await asyncio.wait({task})
        return "waits"
    if task.exception() is None:
        return "done"
    return "refused" if isinstance(task.exception(), Unavailable) else repr(task.exception())


@pytest.mark.parametrize(("state", "call", "outcome"), CELLS)
async def test_a_call_is_served_waits_or_is_refused_as_the_state_says(
    in_memory: Serving, state: PartitionState, call: Call, outcome: str
) -> None:
    async with staged(state, in_memory) as found:
        assert found.state is state

        assert await _outcome(found, call) == outcome

        assert found.state is state


async def test_a_late_commit_that_arrives_opens_the_partition_again(in_memory: Serving) -> None:
    async with in_memory(LATE) as harness:
        await _suspended(harness)

        harness.store.release()

        await until(lambda: harness.partition.lifecycle.state is P.OPEN)


async def test_a_late_commit_that_arrives_leaves_a_drained_partition_drained(in_memory: Serving) -> None:
    async with in_memory(LATE) as harness:
        await _suspended_and_drained(harness)

        harness.store.release()

        await until(lambda: harness.partition.lifecycle.state is P.DRAINING)


async def test_a_partition_that_stops_while_a_commit_is_late_closes(in_memory: Serving) -> None:
    async with in_memory(LATE) as harness:
        await _suspended(harness)
        harness.partition.stop()

        harness.store.release()

        await until(lambda: harness.partition.lifecycle.state is P.CLOSED)


async def test_a_partition_that_is_drained_while_it_starts_never_opens(in_memory: Serving) -> None:
    async with in_memory() as harness:
        partition = Partition(State(), harness.store, VirtualClock(pinned=EPOCH), PartitionConfig())
        partition.drain()

        await partition.run()

        assert partition.lifecycle.state is P.CLOSED


async def test_a_partition_that_stops_claims_to_take_no_commands(in_memory: Serving) -> None:
    async with in_memory() as harness:
        await _stopping(harness)

        assert not harness.partition.is_open


async def test_a_partition_runs_once(in_memory: Serving) -> None:
    async with in_memory() as harness:
        await _closed(harness)

        with pytest.raises(IllegalMove, match="partition 1: OPEN in state CLOSED"):
            await harness.partition.run()


async def test_a_late_commit_refuses_no_command_for_good_that_was_processed(in_memory: Serving) -> None:
    """A turn that is cut short leaves commands behind; those that it has processed may count."""
    cut_short = PartitionConfig(turn_seconds=0.0, commit_seconds=0.0)

    def keyed(number: int) -> Origin:
        return Origin("default", "client", "r", IdempotencyKey("default", f"key-{number}", b"hash"))

    async with in_memory(cut_short) as harness:
        harness.store.hold()

        def submit(number: int) -> asyncio.Task[Answer]:
            return harness.spawn(harness.partition.submit(creation(), keyed(number)))

        first = [submit(number) for number in range(10)]
        await until(lambda: all(task.done() for task in first))
        harness.store.release(100)
        await until(lambda: harness.partition.is_open)
        await harness.partition.settle()
        repeats: list[Answer] = []
        for number in range(10):
            await until(lambda: harness.partition.is_open)
            repeats.append(await submit(number))

        assert len(harness.state.instances) == len(repeats)
