"""Processes that own partitions: each takes its share, keeps it, and gives it away when others need it."""

import asyncio
import logging
import weakref
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from server.engine import State
from server.engine.formats import LATEST, ClusterFormat, UnreadableFormat
from server.partition.config import ClusterConfig, InstancesConfig, JobsConfig, PartitionConfig
from server.partition.lease_renewal import LeaseRenewal
from server.partition.local import LocalPartition
from server.partition.node import Node
from server.partition.node_format import NodeFormat
from server.partition.partition import Partition
from server.partition.remote import RemotePartition
from server.partition.tunnels import Tunnels
from server.platform import collector
from server.platform.clock import VirtualClock
from server.platform.errors import Unavailable
from server.store.memory import MemoryStore
from server.store.ports import PartitionId
from server.store.postgres.leases import Lease, NodeFormats
from tests.durable import EPOCH
from tests.server.partition.fakes import LeaseRows
from tests.server.partition.harness import activation
from tests.server.platform.tunnel.harness import Broken, odd_server
from tests.waits import PATIENCE_SECONDS, until

LEASE_SECONDS = 3.0
# So that every look is soon; leases end by the time of `LeaseRows` alone.
POLL_SECONDS = 0.005


@dataclass
class Process:
    """A node that runs, with a count of the partitions that it opened; `recovering` holds them back.

    Its program reads formats up to `reads`, and holds documents that it cannot read in the partitions `unreadable`.
    It starts together with others, so that there are `starting` of them.
    """

    leases: LeaseRows
    name: str
    opened: list[Lease] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    recovering: asyncio.Event = field(default_factory=asyncio.Event)
    reads: int = LATEST
    held_at: int = 0
    unreadable: frozenset[int] = frozenset()
    starting: int = 1
    lease_seconds: float = LEASE_SECONDS

    def __post_init__(self) -> None:
        self.recovering.set()
        config = ClusterConfig(
            node_id=self.name,
            address="127.0.0.1:1",
            secret="secret",
            lease_seconds=self.lease_seconds,
            poll_seconds=POLL_SECONDS,
            starting=self.starting,
        )
        self.tunnels = Tunnels()
        self.node = Node(
            config,
            self.leases,
            self._renewing,
            open_partition=self._open,
            tunnels=self.tunnels,
            node_format=NodeFormat(self.held_at, reads=self.reads),
        )

    @asynccontextmanager
    async def _renewing(self, renewal: LeaseRenewal) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(renewal.run(self.leases))
            yield
            running.cancel()

    @asynccontextmanager
    async def _open(self, lease: Lease) -> AsyncIterator[LocalPartition]:
        self.opened.append(lease)
        await self.recovering.wait()
        if lease.partition_id in self.unreadable:
            raise UnreadableFormat("process instance 7 cannot be read")
        if self.failures:
            raise self.failures.pop()
        store = MemoryStore(1_000)
        partition = Partition(State(lease.partition_id), store, VirtualClock(pinned=EPOCH), PartitionConfig())
        yield LocalPartition(partition, store, JobsConfig(), InstancesConfig())

    @property
    def serves(self) -> list[int]:
        """Partitions that take commands here."""
        return [number for number in self.node.ids if self._is_open(number)]

    def _is_open(self, number: PartitionId) -> bool:
        try:
            return self.node.find_local(number).partition.is_open
        except Unavailable:
            return False

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Process"]:
        """Until the block ends; then it is told to stop."""
        async with self.tunnels, asyncio.TaskGroup() as tasks:
            self.task = tasks.create_task(self.node.run())
            yield self
            self.node.stop()
            await asyncio.wait((self.task,), timeout=PATIENCE_SECONDS)
            self.task.cancel()

    async def die(self) -> None:
        """As a process that is killed: nothing is given back."""
        self.leases.is_away = True
        self.task.cancel()
        await asyncio.wait((self.task,))
        self.leases.is_away = False


async def shared(count: int, *processes: Process) -> None:
    """Return when these serve all partitions among them, each its share."""
    share = -(-count // len(processes))

    def is_shared() -> bool:
        served = [number for process in processes for number in process.serves]
        return sorted(served) == list(range(1, count + 1)) and all(
            len(process.serves) <= share for process in processes
        )

    await until(is_shared)


async def looked(leases: LeaseRows) -> None:
    """Return when every process has looked at the leases, or tried to, twice at least."""
    enough = leases.calls + 20
    await until(lambda: leases.calls >= enough)


def epochs(process: Process, number: int) -> list[int]:
    return [lease.epoch for lease in process.opened if lease.partition_id == number]


async def test_a_process_alone_takes_all_partitions() -> None:
    leases = LeaseRows(3)
    async with Process(leases, "a").running() as alone:
        await alone.node.ready()

        assert alone.serves == [1, 2, 3]
        assert leases.owners == [alone.node.node_id] * 3
        assert [lease.epoch for lease in alone.opened] == [1, 1, 1]


async def test_a_process_that_is_ready_is_known_to_own_what_it_took() -> None:
    async with Process(LeaseRows(2), "a").running() as alone:
        await alone.node.ready()

        (member,) = alone.node.members()
        assert (member.node_id, member.host, member.port) == (alone.node.node_id, "127.0.0.1", 1)
        assert member.partitions == ((1, True), (2, True))


class ForgetfulRows(LeaseRows):
    """The first release of a lease does not reach the database."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.released = 0

    async def release(self, lease: Lease, node_id: str) -> None:
        self.released += 1
        if self.released == 1:
            raise Unavailable("the database does not answer")
        await super().release(lease, node_id)


async def test_a_lease_whose_release_failed_is_released_again() -> None:
    """It would live as long as its process, which does not serve the partition any more."""
    alone = Process(ForgetfulRows(1), "a", failures=[ValueError("no")])
    async with alone.running():
        await until(lambda: alone.serves == [1])

        assert epochs(alone, 1) == [1, 2]


async def test_a_process_that_joins_gets_its_share() -> None:
    leases = LeaseRows(4)
    async with Process(leases, "a").running() as first:
        await first.node.ready()

        async with Process(leases, "b").running() as second:
            await shared(4, first, second)

            assert len(first.serves) == len(second.serves) == 2


async def test_the_memory_of_a_partition_that_another_process_has_is_free() -> None:
    leases = LeaseRows(2)
    async with Process(leases, "a").running() as first:
        await first.node.ready()
        states = {number: first.node.find_local(number).partition.state for number in first.node.ids}
        parts = {number: weakref.ref(state.messages) for number, state in states.items()}
        # As the recovery of another partition does: garbage collection looks at nothing that exists now.
        with collector.paused():
            pass

        async with Process(leases, "b").running() as second:
            await shared(2, first, second)
            (kept,), (gone,) = first.serves, second.serves
            await until(lambda: parts[gone]() is None)

            assert parts[kept]() is first.node.find_local(kept).partition.state.messages
            assert states[gone].partition_id == gone


@pytest.mark.parametrize(("partitions", "processes"), [(1, 2), (3, 2), (5, 3), (2, 3)])
async def test_no_process_has_more_than_its_share(partitions: int, processes: int) -> None:
    leases = LeaseRows(partitions)
    async with _together([Process(leases, f"p-{number}") for number in range(processes)]) as all_:
        await shared(partitions, *all_)


@asynccontextmanager
async def _together(processes: Sequence[Process]) -> AsyncIterator[Sequence[Process]]:
    if not processes:
        yield ()
        return
    first, *others = processes
    async with first.running(), _together(others):
        yield processes


async def test_what_a_process_owns_is_taken_when_it_stops() -> None:
    leases = LeaseRows(2)
    async with Process(leases, "b").running() as second:
        async with Process(leases, "a").running() as first:
            await shared(2, first, second)

        await shared(2, second)
        assert leases.owners == [second.node.node_id] * 2


async def test_what_a_dead_process_owned_is_taken_when_its_lease_is_over() -> None:
    leases = LeaseRows(2)
    async with Process(leases, "b").running() as second, Process(leases, "a").running() as first:
        await shared(2, first, second)
        (gone,) = first.serves
        await first.die()

        leases.now += LEASE_SECONDS + 0.1

        await shared(2, second)
        assert gone in second.serves
        assert epochs(second, gone)[-1] > epochs(first, gone)[-1]


async def test_a_lease_that_is_renewed_never_ends() -> None:
    leases = LeaseRows(2)
    async with Process(leases, "a").running() as alone:
        await alone.node.ready()

        for _ in range(5):
            leases.now += LEASE_SECONDS / 3
            await looked(leases)

        assert len(alone.opened) == 2
        assert alone.serves == [1, 2]


async def test_a_process_whose_lease_was_taken_serves_no_longer() -> None:
    leases = LeaseRows(2)
    async with Process(leases, "a").running() as robbed:
        await robbed.node.ready()
        partition = robbed.node.find_local(PartitionId(2)).partition

        leases.steal(2, "thief")

        await until(lambda: robbed.serves == [1] and isinstance(_found(robbed, 2), RemotePartition))
        assert not partition.is_open
        members = {
            member.node_id: [number for number, _ in member.partitions] for member in robbed.node.members()
        }
        assert members == {robbed.node.node_id: [1], "thief": [2]}


def _found(process: Process, number: int) -> object:
    try:
        return process.node.find(PartitionId(number))
    except Unavailable:
        return None


async def test_a_fault_in_a_tunnel_ends_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    leases, broken = LeaseRows(2), Broken()
    async with odd_server(broken) as address, Process(leases, "a").running() as robbed:
        await robbed.node.ready()

        leases.steal(2, "thief", address=address)

        await until(lambda: broken.streams > 1)
        await looked(leases)
        assert robbed.serves == [1]
        assert not robbed.task.done()
    assert any(record.levelno == logging.ERROR for record in caplog.records)


async def test_a_process_that_ends_late_takes_nothing_from_its_successor() -> None:
    """Both have one name, like a container and the one that takes its place."""
    leases = LeaseRows(1)
    async with Process(leases, "a").running() as successor:
        await successor.node.ready()
        async with Process(leases, "a").running() as late:
            await until(lambda: leases.nodes == {successor.node.node_id, late.node.node_id})

        assert leases.nodes == {successor.node.node_id}
        assert successor.serves == [1]


async def test_while_the_database_is_away_what_is_owned_is_served() -> None:
    leases = LeaseRows(2)
    async with Process(leases, "a").running() as alone:
        await alone.node.ready()
        leases.is_away = True
        await looked(leases)
        meanwhile = alone.serves

        leases.is_away = False

        assert meanwhile == [1, 2]
        await until(lambda: alone.serves == [1, 2])


async def test_a_process_is_not_ready_before_it_has_seen_the_leases() -> None:
    leases = LeaseRows(1)
    leases.is_away = True
    async with Process(leases, "a").running() as alone:
        ready = asyncio.ensure_future(alone.node.ready())
        await looked(leases)
        early = ready.done()

        leases.is_away = False

        await ready
        assert not early
        assert alone.serves == [1]


async def test_processes_that_start_together_leave_each_other_their_share() -> None:
    leases = LeaseRows(2)
    first, second = Process(leases, "a", starting=2), Process(leases, "b", starting=2)
    async with first.running():
        ready = asyncio.ensure_future(first.node.ready())
        await until(lambda: first.serves == [1])
        await looked(leases)
        early = ready.done()

        async with second.running():
            await asyncio.gather(ready, second.node.ready())

            assert not early
            assert (first.serves, second.serves) == ([1], [2])
            assert [lease.epoch for lease in (*first.opened, *second.opened)] == [1, 1]


async def test_a_process_takes_all_partitions_when_those_that_start_with_it_do_not_come() -> None:
    async with Process(LeaseRows(2), "a", starting=2, lease_seconds=0.05).running() as alone:
        await until(lambda: alone.serves == [1, 2])


async def test_a_process_is_ready_without_the_partitions_that_nobody_can_take() -> None:
    leases = LeaseRows(2)
    async with Process(leases, "a", unreadable=frozenset({2}), lease_seconds=0.05).running() as alone:
        await alone.node.ready()

        assert alone.serves == [1]


async def test_a_process_is_not_ready_before_it_has_recovered_what_it_took() -> None:
    process = Process(LeaseRows(1), "a")
    process.recovering.clear()
    async with process.running():
        ready = asyncio.ensure_future(process.node.ready())
        await until(lambda: process.opened)
        early = ready.done()
        with pytest.raises(Unavailable, match="partition 1 is not served here") as refusal:
            process.node.find(PartitionId(1))

        process.recovering.set()

        await ready
        assert not early
        assert refusal.value.is_untouched
        assert process.serves == [1]


async def test_a_partition_that_cannot_be_opened_is_tried_again() -> None:
    process = Process(LeaseRows(2), "a", failures=[RuntimeError("a fault of ours")])
    async with process.running():
        await until(lambda: process.serves == [1, 2])

        assert len(process.opened) == 3


async def test_a_process_may_be_told_to_stop_while_it_recovers() -> None:
    leases = LeaseRows(1)
    process = Process(leases, "a")
    process.recovering.clear()

    async with asyncio.timeout(PATIENCE_SECONDS), process.running():
        await until(lambda: process.opened)

    assert process.serves == []


async def test_a_partition_that_recovers_is_given_back_when_its_process_stops() -> None:
    leases = LeaseRows(1)
    process = Process(leases, "a")
    process.recovering.clear()

    async with asyncio.timeout(PATIENCE_SECONDS), process.running():
        await until(lambda: process.opened)

    assert leases.owners == [None]


async def test_a_partition_that_was_taken_as_its_process_stopped_is_given_back() -> None:
    leases = LeaseRows(1)
    process = Process(leases, "a")
    leases.on_take = process.node.stop

    async with asyncio.timeout(PATIENCE_SECONDS), process.running():
        await until(process.task.done)

    assert process.opened == []
    assert leases.owners == [None]
    assert leases.nodes == set()


async def test_workers_that_wait_are_let_go_when_their_partition_is_handed_over() -> None:
    leases = LeaseRows(2)
    async with Process(leases, "a").running() as first:
        await first.node.ready()
        waiting = [
            asyncio.ensure_future(first.node.find_local(number).activate(activation(), 60))
            for number in first.node.ids
        ]

        async with Process(leases, "b").running() as second:
            await shared(2, first, second)
            done, pending = await asyncio.wait(
                waiting, return_when=asyncio.FIRST_COMPLETED, timeout=PATIENCE_SECONDS
            )

            assert [task.result().jobs for task in done] == [()]
            first.node.drain()
            assert [(await task).jobs for task in pending] == [()]


async def test_what_nobody_owns_is_unavailable_and_nothing_happened() -> None:
    leases = LeaseRows(2)
    async with Process(leases, "a").running() as alone:
        await alone.node.ready()

        with pytest.raises(Unavailable) as refusal:
            alone.node.find(PartitionId(9))

        assert refusal.value.is_untouched


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Those that partitions and nodes report."""
    ours = [record for record in caplog.records if record.name.startswith("server.partition")]
    return [record.getMessage() for record in ours if record.levelno == logging.ERROR]


async def test_a_process_alone_has_every_feature_when_it_is_ready() -> None:
    async with Process(LeaseRows(1), "a").running() as alone:
        await alone.node.ready()

        assert alone.node.format == ClusterFormat(LATEST)
        assert alone.node.find_local(PartitionId(1)).partition.state.format == ClusterFormat(LATEST)


async def test_the_format_rises_when_the_last_process_of_an_older_version_has_gone() -> None:
    leases = LeaseRows(2)
    async with Process(leases, "old", reads=1).running() as old:
        await old.node.ready()
        async with Process(leases, "new", reads=3).running() as new:
            await shared(2, new, old)
            await until(lambda: new.node.format == ClusterFormat(1, old.node.node_id))
            (served,) = new.serves
            partition = new.node.find_local(PartitionId(served)).partition
            assert partition.state.format == new.node.format

            old.node.stop()

            await until(lambda: new.node.format == ClusterFormat(3))
            await until(lambda: partition.state.format == ClusterFormat(3))


async def test_an_operator_holds_the_format_back_until_a_process_says_otherwise() -> None:
    leases = LeaseRows(1)
    async with Process(leases, "held", reads=3, held_at=2).running() as held:
        await held.node.ready()
        await looked(leases)
        assert leases.cluster_format == 2

        async with Process(leases, "free", reads=3).running():
            await looked(leases)
            assert leases.cluster_format == 2

    async with Process(leases, "free", reads=3).running() as free:
        await free.node.ready()
        assert leases.cluster_format == 3


async def test_a_process_that_cannot_read_what_others_write_takes_nothing_and_reaches_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    leases = LeaseRows(2)
    leases.cluster_format = 5
    async with Process(leases, "old", reads=4).running() as old:
        await old.node.ready()
        async with Process(leases, "new", reads=5).running() as new:
            await shared(2, new)
            await until(lambda: isinstance(_found(old, 1), RemotePartition))
            await looked(leases)

            assert (old.opened, old.serves) == ([], [])
    assert errors(caplog) == ["the deployment writes a later format: this node takes no partitions"]


async def test_a_process_gives_its_partitions_back_when_it_can_read_the_format_no_longer() -> None:
    leases = LeaseRows(2)
    async with Process(leases, "old", reads=2).running() as old:
        await shared(2, old)

        leases.cluster_format = 3

        async with Process(leases, "new", reads=3).running() as new:
            await shared(2, new)
            await until(lambda: not old.serves)


async def test_a_partition_that_cannot_be_read_is_left_to_other_processes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    leases = LeaseRows(4)
    async with Process(leases, "old", unreadable=frozenset({1, 2})).running() as old:
        await until(lambda: old.serves == [3, 4])
        await looked(leases)

        async with Process(leases, "new").running() as new:
            await until(lambda: sorted([*old.serves, *new.serves]) == [1, 2, 3, 4])
            assert set(new.serves) >= {1, 2}
        assert [len(epochs(old, number)) for number in (1, 2)] == [1, 1]
    assert errors(caplog) == ["this version cannot read the partition; other processes may take it"] * 2


async def test_the_row_of_a_process_tells_the_formats_that_it_reads_and_writes() -> None:
    leases = LeaseRows(1)
    async with Process(leases, "a", reads=3, held_at=2, unreadable=frozenset({1})).running() as alone:
        await until(
            lambda: (
                leases.formats_of.get(alone.node.node_id)
                == NodeFormats(oldest=1, latest=2, written=2, unreadable=1)
            )
        )
