"""Partitions that do as a test says, and the rows of leases in memory under a time of their own."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from server.engine.answers import DONE, ActivatedJobs, Answer
from server.engine.commands import Command
from server.engine.formats import ClusterFormat
from server.engine.job_commands import ActivateJobs
from server.engine.keys import Key, first_key
from server.partition.origin import Origin
from server.partition.port import Member
from server.platform.errors import Unavailable
from server.store.entities import AuditEntry
from server.store.ports import PartitionId
from server.store.postgres.leases import FormatRow, Lease, LeaseHolder, NodeFormats, Survey


class FakePartition:
    """Answers with DONE, or as `outcomes` say in their order; `jobs` are given to the next activation.

    It catches up at once, or when `catching` is set; it activates jobs at once, or when `activating` is set.
    """

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.outcomes: deque[Answer | Exception] = deque()
        self.jobs = ActivatedJobs(())
        self.offered = asyncio.Event()
        self.awaited: list[Key] = []
        self.noted: list[AuditEntry] = []
        self.called = 0
        self.catching: asyncio.Event | None = None
        self.activating: asyncio.Event | None = None
        self.catching_up = 0
        self.waiting = 0

    async def submit(self, command: Command, origin: Origin | None = None) -> Answer:  # noqa: ARG002
        outcome = self.outcomes.popleft() if self.outcomes else DONE
        if isinstance(outcome, Exception):
            raise outcome
        self.commands.append(command)
        return outcome

    async def activate(self, command: ActivateJobs, seconds: float) -> ActivatedJobs:  # noqa: ARG002
        outcome = await self.submit(command)
        if self.activating is not None:
            await self.activating.wait()
        if isinstance(outcome, ActivatedJobs):
            return outcome
        jobs, self.jobs = self.jobs, ActivatedJobs(())
        return jobs

    async def await_offer(self, command: ActivateJobs, seconds: float) -> bool:  # noqa: ARG002
        self.waiting += 1
        try:
            await self.offered.wait()
        finally:
            self.waiting -= 1
        return True

    async def await_completion(self, key: Key, tenant_id: str, seconds: float) -> None:  # noqa: ARG002
        self.awaited.append(key)

    async def catch_up(self) -> None:
        self.called += 1
        if self.catching is not None:
            await self.catching.wait()
        outcome = self.outcomes.popleft() if self.outcomes else None
        if isinstance(outcome, Exception):
            raise outcome
        self.catching_up += 1

    async def note(self, entries: Sequence[AuditEntry]) -> None:
        self.noted += entries


class FakePartitions:
    """So many partitions; those in `away` have no owner."""

    def __init__(self, count: int) -> None:
        self.all = {PartitionId(number): FakePartition() for number in range(1, count + 1)}
        self.away: set[int] = set()
        self.format = ClusterFormat()
        self.message_homes = count

    @property
    def ids(self) -> Sequence[PartitionId]:
        return tuple(self.all)

    def __getitem__(self, number: int) -> FakePartition:
        return self.all[PartitionId(number)]

    def find(self, partition_id: PartitionId) -> FakePartition:
        if partition_id in self.away:
            raise Unavailable.untouched(f"partition {partition_id} has no owner at the moment")
        return self.all[partition_id]

    def members(self) -> Sequence[Member]:
        return ()


@dataclass
class Row:
    """A lease, and when it ends."""

    holding: LeaseHolder
    until: float = 0.0


class LeaseRows:
    """All nodes of a test share it; `now` is the database's clock, `is_away` says that it does not answer.

    `on_take` is called whenever a partition is taken.
    """

    def __init__(self, count: int) -> None:
        self.now = 0.0
        self.is_away = False
        self.calls = 0
        self.on_take: Callable[[], None] = lambda: None
        self._rows = {
            PartitionId(number): Row(
                LeaseHolder(PartitionId(number), owner=None, address=None, epoch=0, position=0, is_live=False)
            )
            for number in range(1, count + 1)
        }
        self._nodes: dict[str, float] = {}
        self.formats_of: dict[str, NodeFormats] = {}
        self.cluster_format = 1

    def steal(self, partition_id: int, thief: str, *, address: str = "elsewhere:1") -> None:
        """Take the lease over, as another node does that thinks that it has ended."""
        row = self._rows[PartitionId(partition_id)]
        row.holding = replace(row.holding, owner=thief, address=address, epoch=row.holding.epoch + 1)
        row.until = self.now + 1_000

    @property
    def owners(self) -> list[str | None]:
        return [row.holding.owner for row in self._rows.values()]

    @property
    def nodes(self) -> set[str]:
        """Those that said that they live, and not that they are gone."""
        return set(self._nodes)

    async def beat(self, node_id: str, address: str, *, seconds: float, formats: NodeFormats) -> None:  # noqa: ARG002
        self._expect_here()
        self._nodes[node_id] = self.now + seconds
        self.formats_of[node_id] = formats

    async def leave(self, node_id: str) -> None:
        self._expect_here()
        self._nodes.pop(node_id, None)

    async def survey(self, node_id: str) -> Survey:
        return Survey(await self.formats(), self._other_nodes(node_id), self._holdings())

    def _other_nodes(self, node_id: str) -> int:
        return sum(
            self.formats_of[name].latest >= self.cluster_format and not self.formats_of[name].unreadable
            for name in self._live()
            if name != node_id
        )

    async def formats(self) -> FormatRow:
        self._expect_here()
        lowest = min(((self.formats_of[name].latest, name) for name in self._live()), default=None)
        return FormatRow(self.cluster_format, *(lowest or ()))

    async def raise_format(self, latest: int) -> None:
        self._expect_here()
        lowest = min((self.formats_of[name].latest for name in self._live()), default=latest)
        self.cluster_format = max(self.cluster_format, min(latest, lowest))

    def _live(self) -> list[str]:
        return [name for name, until in self._nodes.items() if until >= self.now]

    async def take(
        self, partition_id: PartitionId, node_id: str, *, address: str, seconds: float
    ) -> Lease | None:
        self._expect_here()
        row = self._rows[partition_id]
        if row.holding.owner is not None and row.until >= self.now:
            return None
        epoch = row.holding.epoch + 1
        row.holding = replace(row.holding, owner=node_id, address=address, epoch=epoch)
        row.until = self.now + seconds
        self.on_take()
        return Lease(partition_id, epoch=epoch, position=0, last_key=first_key(partition_id))

    async def renew(
        self, node_id: str, epochs: Mapping[PartitionId, int], *, seconds: float
    ) -> frozenset[PartitionId]:
        self._expect_here()
        kept = {
            partition_id
            for partition_id, epoch in epochs.items()
            if (self._rows[partition_id].holding.owner, self._rows[partition_id].holding.epoch)
            == (node_id, epoch)
        }
        for partition_id in kept:
            self._rows[partition_id].until = self.now + seconds
        return frozenset(kept)

    async def release(self, lease: Lease, node_id: str) -> None:
        self._expect_here()
        row = self._rows[lease.partition_id]
        if (row.holding.owner, row.holding.epoch) == (node_id, lease.epoch):
            row.holding = replace(row.holding, owner=None, address=None)

    def _holdings(self) -> Sequence[LeaseHolder]:
        return [
            replace(row.holding, is_live=row.holding.owner is not None and row.until >= self.now)
            for row in self._rows.values()
        ]

    def _expect_here(self) -> None:
        self.calls += 1
        if self.is_away:
            raise Unavailable("the database does not answer")
