"""Commands of a tenant whose last one took long delay no command of others that can be done before."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, repeat

from server.bpmn.builder import process
from server.engine import State, batch_commands, deployment_commands
from server.engine.batch_operations import BatchAction, BatchItem, BatchOperationType
from server.engine.handlers.batch_operation import ITEMS_AT_ONCE, PAGE_ITEMS
from server.partition.config import PartitionConfig, QuotaConfig
from server.partition.meter import Unmeasured
from server.partition.partition import Partition
from server.partition.quota import Quota
from server.partition.slow_tenants import SlowTenants
from server.partition.turn import MANY_ROWS, Entry, Turn, Turns
from server.platform.clock import VirtualClock
from server.store.memory import MemoryStore
from server.store.ports import IncomingCommand, PartitionId
from tests.durable import EPOCH
from tests.server.engine.scenario import resource
from tests.server.partition.harness import HeldStore, Serving, activation, creation
from tests.waits import until

# Every turn takes as long as it may, and is cut after its first command.
ALL_SLOW = PartitionConfig(turn_seconds=0.0)
ORDER = deployment_commands.DeployResources("default", (resource(process("order").end()),))


def entry(tenant_id: str) -> Entry:
    return Entry(replace(activation(), tenant_id=tenant_id))


def turns(seconds: float, *, state: State | None = None, times: Iterable[float] = ()) -> Turns:
    """Turns that are to take so long; the stopwatch shows these times, then stands still."""
    shown = chain(times, repeat(0.0))
    return Turns(state or State(), Quota(QuotaConfig()), seconds=seconds, stopwatch=lambda: next(shown))


def tenants(entries: Sequence[Entry]) -> list[str]:
    return [each.tenant_id for each in entries]


def test_a_tenant_is_slow_from_a_slow_command_until_one_that_is_not() -> None:
    slow = SlowTenants()
    mixed = [entry("a"), entry("b"), entry("a")]

    slow.note(mixed, slow=mixed[1])
    quick, late = slow.split(mixed)
    slow.note([entry("b")], slow=None)

    assert (tenants(quick), tenants(late)) == (["a", "a"], ["b"])
    assert slow.split(mixed) == (mixed, [])


def test_commands_of_other_partitions_keep_their_order() -> None:
    slow = SlowTenants()
    slow.note([], slow=entry("b"))
    incoming = Entry(entry("b").command, incoming=IncomingCommand(PartitionId(2), 1, b""))

    assert slow.split([incoming]) == ([incoming], [])


def test_a_turn_without_commands_makes_nobody_slow() -> None:
    growth = turns(0.0).grow(Turn(), [], now=EPOCH)

    assert growth.slow is None


def test_the_command_that_took_the_most_of_a_long_turn_is_the_slow_one() -> None:
    entries = [entry("a"), entry("b"), entry("c"), entry("d")]

    growth = turns(0.05, times=(0.0, 0.01, 0.04, 0.05)).grow(Turn(), entries, now=EPOCH)

    assert (growth.slow, growth.left) == (entries[1], entries[3:])


def test_a_command_that_writes_many_rows_is_slow_and_the_last_of_its_turn() -> None:
    state = State()
    wide = Entry(creation({f"v{number}": "1" for number in range(MANY_ROWS)}))
    entries = [Entry(ORDER), entry("a"), wide, entry("b")]

    growth = turns(1_000.0, state=state).grow(Turn(), entries, now=EPOCH)

    assert (growth.slow, growth.left) == (wide, entries[3:])


class TurnsSeen(Unmeasured):
    """Notes at each turn how many commits were under way."""

    def __init__(self, store: HeldStore) -> None:
        self.committing: list[int] = []
        self._store = store

    def turned(self, seconds: float) -> None:  # noqa: ARG002
        self.committing.append(self._store.committing)


async def test_a_slow_command_waits_until_the_callers_of_others_have_their_answers() -> None:
    store = HeldStore(MemoryStore(10))
    turns = TurnsSeen(store)
    partition = Partition(State(), store, VirtualClock(pinned=EPOCH), ALL_SLOW, meter=turns)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(partition.run())
        await partition.opened()
        store.hold()
        first = tasks.create_task(partition.submit(ORDER))
        await until(lambda: store.committing)

        tasks.create_task(partition.submit(activation())).add_done_callback(lambda _: partition.stop())
        # Long enough for a turn that does not wait.
        asyncio.get_running_loop().call_later(0.05, store.release, 10)

        await first

    assert turns.committing == [0, 0]


async def test_slow_and_quick_commands_take_turns(in_memory: Serving) -> None:
    async with in_memory(ALL_SLOW) as harness:
        others = [replace(activation(), tenant_id=f"tenant-{number}") for number in range(20)]

        answers = [harness.spawn(harness.submit(each)) for each in others for _ in range(3)]
        start = harness.spawn(harness.start())

        await asyncio.gather(*answers, start)
        assert len(harness.state.instances) == 1


async def test_a_batch_operation_of_one_tenant_leaves_turns_to_another(in_memory: Serving) -> None:
    """It processes some of its items in a turn, and commands of other tenants come between two of them."""
    async with in_memory(ALL_SLOW) as harness:
        keys = [await harness.start() for _ in range(10 * ITEMS_AT_ONCE)]
        action = BatchAction(BatchOperationType.CANCEL_PROCESS_INSTANCE)
        operation = (await harness.submit(batch_commands.CreateBatchOperation("default", action))).key
        for first in range(0, len(keys), PAGE_ITEMS):
            items = tuple(BatchItem(key, key, key) for key in keys[first : first + PAGE_ITEMS])
            await harness.submit(batch_commands.AddBatchItems("default", operation, items))

        await harness.submit(batch_commands.StartBatchOperation("default", operation))
        left = []
        for _ in range(3):
            await harness.submit(replace(activation(), tenant_id="other"))
            left.append(len(harness.state.instances))

        assert all(left), left
        await harness.partition.settle()
        assert harness.state.instances == {}
        assert harness.state.batches.operations == {}
