"""A process that owns partitions: takes them by lease, serves them, hands them over, and knows where the others are.

A lease is a row, by the database's clock. Whoever takes one raises its epoch, and every commit compares that epoch: an
owner that was away too long commits nothing, so nothing here has to be in time for the data to be right. A process that
joins gets its share from those that have more than theirs.
"""

import asyncio
import logging
import os
import socket
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from math import ceil
from typing import Protocol

from server.partition.config import ClusterConfig
from server.partition.local import LocalPartition
from server.partition.port import Member, PartitionPort
from server.partition.remote import RemotePartition
from server.partition.tunnels import Tunnels
from server.platform.errors import ServiceError, Unavailable
from server.store.ports import LeaseLost, PartitionId
from server.store.postgres.leases import Holding, Lease

logger = logging.getLogger(__name__)


class LeaseTable(Protocol):
    """The rows of all leases and of all processes; every call raises Unavailable when the database is away."""

    async def beat(self, node_id: str, address: str, *, seconds: float) -> None: ...

    async def leave(self, node_id: str) -> None: ...

    async def live_nodes(self) -> int: ...

    async def take(
        self, partition_id: PartitionId, node_id: str, *, address: str, seconds: float
    ) -> Lease | None:
        """Take a partition that nobody owns, None when somebody does by now."""
        ...

    async def renew(
        self, node_id: str, epochs: Mapping[PartitionId, int], *, seconds: float
    ) -> frozenset[PartitionId]:
        """The partitions whose leases are still ours."""
        ...

    async def release(self, lease: Lease, node_id: str) -> None: ...

    async def holdings(self) -> Sequence[Holding]: ...


# Recovers a partition; it can be served while the block runs.
OpenPartition = Callable[[Lease], AbstractAsyncContextManager[LocalPartition]]


@dataclass(slots=True, eq=False)
class _Held:
    """A partition of ours; it has no `local` before it has recovered, and is `settled` when it has or cannot."""

    lease: Lease
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    local: LocalPartition | None = None
    serving: asyncio.Task[None] | None = None


class Node:
    """`run` serves until `stop` is called; then it hands its partitions over and returns."""

    def __init__(
        self, config: ClusterConfig, leases: LeaseTable, open_partition: OpenPartition, tunnels: Tunnels
    ) -> None:
        self.node_id = config.node_id or f"{socket.gethostname()}-{os.getpid()}"
        self._address = config.address or f"{config.host}:{config.port}"
        self._leases = leases
        self._open = open_partition
        self._tunnels = tunnels
        self._config = config
        self._held: dict[PartitionId, _Held] = {}
        self._holdings: Mapping[PartitionId, Holding] = {}
        self._remote: dict[tuple[PartitionId, str], RemotePartition] = {}
        self._looked = asyncio.Event()
        self._stopping = asyncio.Event()

    # Partitions

    @property
    def ids(self) -> Sequence[PartitionId]:
        return sorted(self._holdings)

    def find(self, partition_id: PartitionId) -> PartitionPort:
        holding = self._holdings.get(partition_id)
        if partition_id in self._held or holding is None or holding.owner == self.node_id:
            return self.find_local(partition_id)
        if not holding.is_live or not holding.address:
            raise Unavailable.untouched(f"partition {partition_id} has no owner at the moment")
        place = (partition_id, holding.address)
        if place not in self._remote:
            channel = self._tunnels.find(holding.address)
            self._remote[place] = RemotePartition(partition_id, channel, self._config.secret)
        return self._remote[place]

    def find_local(self, partition_id: PartitionId) -> LocalPartition:
        """A partition that is served here; raises Unavailable."""
        held = self._held.get(partition_id)
        if held is None or held.local is None:
            raise Unavailable.untouched(f"partition {partition_id} is not served here")
        return held.local

    def members(self) -> Sequence[Member]:
        owned: dict[tuple[str, str], list[tuple[PartitionId, bool]]] = {}
        for holding in self._holdings.values():
            if holding.is_live and holding.owner and holding.address:
                owner = owned.setdefault((holding.owner, holding.address), [])
                owner.append((holding.partition_id, self._is_open(holding)))
        return [_member(node_id, address, found) for (node_id, address), found in sorted(owned.items())]

    def _is_open(self, holding: Holding) -> bool:
        held = self._held.get(holding.partition_id)
        return holding.owner != self.node_id or bool(held and held.local and held.local.partition.is_open)

    # Life

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            while not self._stopping.is_set():
                await self._look(tasks)
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._config.poll_seconds):
                        await self._stopping.wait()
            for held in list(self._held.values()):
                self._hand_over(held)
        with suppress(ServiceError):
            await self._leases.leave(self.node_id)

    async def ready(self) -> None:
        """Return when this process knows the partitions and everything that it took so far is served."""
        await self._looked.wait()
        for held in list(self._held.values()):
            await held.settled.wait()
            if held.local is not None:
                await held.local.partition.opened()

    def drain(self) -> None:
        """Let nobody wait any longer for what has yet to happen."""
        for held in self._held.values():
            if held.local is not None:
                held.local.partition.drain()

    def stop(self) -> None:
        self._stopping.set()

    async def _look(self, tasks: asyncio.TaskGroup) -> None:
        """Keep what is ours, see what is whose, take our share."""
        try:
            await self._renew()
            holdings = await self._leases.holdings()
            await self._reach({holding.address for holding in holdings if holding.address})
            self._holdings = {holding.partition_id: holding for holding in holdings}
            await self._balance(holdings, tasks)
        except Unavailable as refusal:
            logger.warning("the leases cannot be reached", extra={"reason": refusal.detail})
            return
        self._looked.set()

    async def _reach(self, addresses: Collection[str]) -> None:
        """Have tunnels to these and forget who went away."""
        self._remote = {place: port for place, port in self._remote.items() if place[1] in addresses}
        await self._tunnels.keep(addresses)

    async def _renew(self) -> None:
        seconds = self._config.lease_seconds
        await self._leases.beat(self.node_id, self._address, seconds=seconds)
        epochs = {partition_id: held.lease.epoch for partition_id, held in self._held.items()}
        kept = await self._leases.renew(self.node_id, epochs, seconds=seconds) if epochs else frozenset()
        for partition_id in epochs.keys() - kept:
            held = self._held.get(partition_id)
            if held is not None and held.serving is not None:
                logger.warning("lease lost", extra={"partition_id": partition_id})
                held.serving.cancel()

    async def _balance(self, holdings: Sequence[Holding], tasks: asyncio.TaskGroup) -> None:
        share = ceil(len(holdings) / max(await self._leases.live_nodes(), 1))
        for held in list(self._held.values())[share:]:
            self._hand_over(held)
        for holding in holdings:
            if len(self._held) >= share:
                break
            if not holding.is_live and holding.partition_id not in self._held:
                await self._take(holding.partition_id, tasks)

    async def _take(self, partition_id: PartitionId, tasks: asyncio.TaskGroup) -> None:
        seconds = self._config.lease_seconds
        lease = await self._leases.take(partition_id, self.node_id, address=self._address, seconds=seconds)
        if lease is not None:
            logger.info("partition taken", extra={"partition_id": partition_id, "epoch": lease.epoch})
            self._holdings = {**self._holdings, partition_id: self._own(lease)}
            held = self._held[partition_id] = _Held(lease)
            held.serving = tasks.create_task(self._serve(held))

    def _own(self, lease: Lease) -> Holding:
        return Holding(
            lease.partition_id,
            owner=self.node_id,
            address=self._address,
            epoch=lease.epoch,
            position=lease.position,
            is_live=True,
        )

    async def _serve(self, held: _Held) -> None:
        facts = {"partition_id": held.lease.partition_id, "epoch": held.lease.epoch}
        try:
            async with self._open(held.lease) as held.local:
                held.settled.set()
                logger.info("partition recovered", extra=facts)
                await held.local.partition.run()
        except* LeaseLost:
            logger.warning("another process has the partition", extra=facts)
        except* Exception:
            logger.exception("partition failed", extra=facts)
        finally:
            held.settled.set()
            del self._held[held.lease.partition_id]
        with suppress(ServiceError):
            await self._leases.release(held.lease, self.node_id)

    def _hand_over(self, held: _Held) -> None:
        """Let it end what it has, and then go."""
        if held.local is not None:
            held.local.partition.stop()
        elif held.serving is not None:
            held.serving.cancel()


def _member(node_id: str, address: str, partitions: list[tuple[PartitionId, bool]]) -> Member:
    host, _, port = address.rpartition(":")
    return Member(node_id, host, int(port), tuple(partitions))
