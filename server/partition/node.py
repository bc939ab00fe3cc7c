"""A process that owns partitions: takes leases, serves partitions, hands them over, and knows their other owners.

A lease is a row that expires by the database's clock. Taking a lease raises its epoch, and every commit
compares the epoch. An owner that was away too long therefore commits nothing, and correctness does not depend
on timing here. A process that joins gets its share from processes with more than their share.
"""

import asyncio
import logging
import secrets
import socket
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from math import ceil
from typing import Protocol

from server.engine.formats import ClusterFormat, UnreadableFormat
from server.engine.keys import Key
from server.partition.config import ClusterConfig
from server.partition.lease_renewal import LeaseRenewal, Renewing
from server.partition.local import LocalPartition
from server.partition.node_format import FormatTable, NodeFormat
from server.partition.ownership import OwnedPartition
from server.partition.port import Member, PartitionPort
from server.partition.topology import Topology
from server.partition.tunnels import Tunnels
from server.platform.errors import ServiceError, Unavailable
from server.store.ports import BatchRefused, LeaseLost, PartitionId
from server.store.postgres.leases import FormatRow, Lease, LeaseHolder, Survey

logger = logging.getLogger(__name__)

INCARNATION_OCTETS = 4
# For this many lease durations, a process leaves other starting processes their share, and waits for all
# partitions before it is ready.
STARTING_LEASES = 3


class LeaseTable(FormatTable, Protocol):
    """The rows of all leases and processes; every call raises Unavailable when the database is unreachable."""

    async def leave(self, node_id: str) -> None: ...

    async def survey(self, node_id: str) -> Survey:
        """Read all leases, the formats, and the number of other processes."""
        ...

    async def take(
        self, partition_id: PartitionId, node_id: str, *, address: str, seconds: float
    ) -> Lease | None:
        """Take a partition without an owner; None when another process was faster."""
        ...

    async def release(self, lease: Lease, node_id: str) -> None: ...


# Recovers a partition, which can be served while the block runs.
OpenPartition = Callable[[Lease], AbstractAsyncContextManager[LocalPartition]]


class Node:
    """`run` serves partitions until `stop` is called; then it hands them over and returns."""

    def __init__(
        self,
        config: ClusterConfig,
        leases: LeaseTable,
        renewing: Renewing,
        *,
        open_partition: OpenPartition,
        tunnels: Tunnels,
        node_format: NodeFormat | None = None,
    ) -> None:
        # A restarted process often has the name and process id of the previous one, but must not use its
        # rows.
        self.node_id = f"{config.node_id or socket.gethostname()}-{secrets.token_hex(INCARNATION_OCTETS)}"
        self._address = config.address or f"{config.host}:{config.port}"
        self._leases = leases
        self._renewing = renewing
        self._renewal = LeaseRenewal(self.node_id, self._address, config, lost=self._report_lost)
        self._open = open_partition
        self._topology = Topology(tunnels, config.secret, written_format=lambda: self.format.wire)
        self._config = config
        self._held: dict[PartitionId, OwnedPartition] = {}
        self._format = node_format or NodeFormat(config.format)
        self._looked = asyncio.Event()
        self._all_owned = asyncio.Event()
        self._starts_until = 0.0
        self._stopping = asyncio.Event()

    # Partitions

    @property
    def format(self) -> ClusterFormat:
        """The latest format that all processes read, as last seen by this one."""
        return self._format.cluster

    @property
    def ids(self) -> Sequence[PartitionId]:
        return self._topology.ids

    @property
    def message_homes(self) -> int:
        """The number of partitions, counted from 1, that are homes of messages."""
        return self._topology.message_homes

    def find(self, partition_id: PartitionId) -> PartitionPort:
        if partition_id in self._held or not self._topology.is_elsewhere(partition_id, self.node_id):
            return self.find_local(partition_id)
        return self._topology.remote(partition_id)

    def find_local(self, partition_id: PartitionId) -> LocalPartition:
        """A partition that this process serves; raises Unavailable."""
        held = self._held.get(partition_id)
        if held is None:
            raise Unavailable.untouched(f"partition {partition_id} is not served here")
        return held.served()

    def open_partitions(self) -> Sequence[LocalPartition]:
        """The partitions that this process serves and that accept commands."""
        return [held.local for held in self._held.values() if held.local is not None and held.is_open]

    def members(self) -> Sequence[Member]:
        return self._topology.members(self._is_open)

    def _is_open(self, holding: LeaseHolder) -> bool:
        held = self._held.get(holding.partition_id)
        return holding.owner != self.node_id or (held is not None and held.is_open)

    # Life

    async def run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._starts_until = self._loop.time() + self._config.lease_seconds * STARTING_LEASES
        self._renewal.progress()
        # Leases are renewed until the last partition is handed over.
        async with self._renewing(self._renewal), asyncio.TaskGroup() as ticking:
            ticks = ticking.create_task(self._tick())
            async with asyncio.TaskGroup() as tasks:
                await self._look_after(tasks)
            ticks.cancel()
        with suppress(ServiceError):
            await self._leases.leave(self.node_id)

    async def _look_after(self, tasks: asyncio.TaskGroup) -> None:
        while not self._stopping.is_set():
            await self._look(tasks)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._config.poll_seconds):
                    await self._stopping.wait()
        for held in list(self._held.values()):
            held.hand_over()

    async def _tick(self) -> None:
        """Report that the event loop makes progress."""
        while True:
            self._renewal.progress()
            await asyncio.sleep(self._config.poll_seconds)

    async def ready(self) -> None:
        """Return when every partition this process took is open, and all others have owners as far as is known.

        It waits for partitions without owners only as long as processes that start together wait for each
        other.
        """
        await self._looked.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout_at(self._starts_until):
                await self._all_owned.wait()
        for held in list(self._held.values()):
            await held.settled.wait()
            if held.local is not None:
                await held.local.partition.opened()

    def drain(self) -> None:
        """End the calls that wait for jobs or completions."""
        for held in self._held.values():
            if held.local is not None:
                held.local.partition.drain()

    def stop(self) -> None:
        self._stopping.set()

    async def _look(self, tasks: asyncio.TaskGroup) -> None:
        """Read the owners of all partitions, and take the share of this process."""
        try:
            survey = await self._leases.survey(self.node_id)
            await self._look_at_formats(survey.formats)
            self._topology.update(survey.holdings)
            await self._release_forgotten(survey.holdings)
            await self._balance(survey, tasks)
            if self._topology.is_all_owned:
                self._all_owned.set()
        except Unavailable as refusal:
            logger.warning("reading the leases failed; retrying", extra={"reason": refusal.detail})
            return
        self._looked.set()

    async def _look_at_formats(self, found: FormatRow) -> None:
        await self._format.look(found, self._leases)
        self._renewal.announce(self._format.announced)
        for held in self._held.values():
            if held.local is not None:
                self._tell_format(held.local)

    def _tell_format(self, local: LocalPartition) -> None:
        local.partition.state.format = self.format

    def _report_lost(self, lease: Lease) -> None:
        """Report a lost lease to the event loop; called in the thread of the renewal."""
        self._loop.call_soon_threadsafe(self._lose, lease)

    def _lose(self, lease: Lease) -> None:
        held = self._held.get(lease.partition_id)
        if held is None or held.lease != lease:
            return
        self._renewal.let_go(lease)
        logger.warning("lease lost", extra={"partition_id": lease.partition_id, "epoch": lease.epoch})
        held.lose()

    async def _release_forgotten(self, holdings: Sequence[LeaseHolder]) -> None:
        """Release leases of partitions that this process no longer serves; a first attempt may have failed.

        Such a lease would live as long as this process.
        """
        for holding in holdings:
            if holding.owner == self.node_id and holding.partition_id not in self._held:
                lease = Lease(holding.partition_id, holding.epoch, holding.position, Key(0))
                await self._leases.release(lease, self.node_id)

    async def _balance(self, survey: Survey, tasks: asyncio.TaskGroup) -> None:
        share = self._share(survey)
        for held in list(self._held.values())[share:]:
            held.hand_over()
        for holding in survey.holdings:
            if len(self._held) >= share:
                break
            is_free = not holding.is_live and holding.partition_id not in self._held
            if is_free and self._format.can_read(holding.partition_id):
                await self._take(holding.partition_id, tasks)

    def _share(self, survey: Survey) -> int:
        """The number of partitions that this process may own: none while it cannot read the cluster format."""
        if not self._format.is_readable:
            return 0
        nodes = survey.other_nodes + 1
        if self._loop.time() < self._starts_until:
            nodes = max(nodes, self._config.starting)
        return ceil(len(survey.holdings) / nodes)

    async def _take(self, partition_id: PartitionId, tasks: asyncio.TaskGroup) -> None:
        seconds = self._config.lease_seconds
        lease = await self._leases.take(partition_id, self.node_id, address=self._address, seconds=seconds)
        if lease is not None:
            logger.info("partition taken", extra={"partition_id": partition_id, "epoch": lease.epoch})
            self._topology.note(self._own(lease))
            self._renewal.hold(lease)
            held = self._held[partition_id] = OwnedPartition(lease)
            tasks.create_task(self._own_until_released(held))

    def _own(self, lease: Lease) -> LeaseHolder:
        return LeaseHolder(
            lease.partition_id,
            owner=self.node_id,
            address=self._address,
            epoch=lease.epoch,
            position=lease.position,
            is_live=True,
            has_messages=lease.partition_id <= lease.message_homes,
        )

    async def _own_until_released(self, held: OwnedPartition) -> None:
        """Serve the partition, then release its lease, unless another node has it or the task is cancelled."""
        try:
            await self._serve(held)
        except asyncio.CancelledError:
            if not held.is_given_up:
                raise
        finally:
            self._renewal.let_go(held.lease)
            del self._held[held.lease.partition_id]
            held.end()
            if held.local is not None:
                held.local.partition.forget()
        with suppress(ServiceError):
            await self._leases.release(held.lease, self.node_id)

    async def _serve(self, held: OwnedPartition) -> None:
        facts = {"partition_id": held.lease.partition_id, "epoch": held.lease.epoch}
        if not held.begin():
            return
        try:
            async with self._open(held.lease) as local:
                held.serve(local)
                self._tell_format(local)
                logger.info("partition recovered", extra=facts)
                await local.partition.run()
        except* LeaseLost:
            logger.warning("another process has the partition", extra=facts)
        except* BatchRefused:
            logger.warning("a commit was refused; the partition is recovered from the database", extra=facts)
        except* UnreadableFormat:
            logger.exception(
                "this version cannot read the partition; other processes may take it", extra=facts
            )
            self._format.give_up(held.lease.partition_id)
        except* Exception:
            logger.exception("partition failed", extra=facts)
