"""Renews the leases of a process in a thread, as long as the event loop of the process makes progress.

The thread has its own event loop and connection, so neither a busy loop nor a busy connection pool delays a
renewal. When the loop of the process stands still for longer than `cluster.stall_seconds`, its leases expire
`cluster.lease_seconds` later, so a process that hangs holds no partition. Correctness does not depend on
timing here: every commit compares the epoch of its lease.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from server.partition.config import ClusterConfig
from server.platform.errors import Unavailable
from server.platform.loop_thread import LoopThread
from server.store.ports import PartitionId
from server.store.postgres.dedicated import DedicatedDatabase
from server.store.postgres.leases import Lease, Leases, NodeFormats

logger = logging.getLogger(__name__)

# Of the duration of a lease, the share that a statement of a renewal may take.
STATEMENT_SHARE = 1 / 2


class RenewalTable(Protocol):
    """The rows that a renewal writes; both calls raise Unavailable when the database is unreachable."""

    async def beat(self, node_id: str, address: str, *, seconds: float, formats: NodeFormats) -> None: ...

    async def renew(
        self, node_id: str, epochs: Mapping[PartitionId, int], *, seconds: float
    ) -> frozenset[PartitionId]: ...


class LeaseRenewal:
    """Renews leases; `run` may run in another thread than the other methods.

    `lost` is called in the thread of `run`, for a lease that another process has taken.
    """

    def __init__(
        self,
        node_id: str,
        address: str,
        config: ClusterConfig,
        *,
        lost: Callable[[Lease], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._node_id = node_id
        self._address = address
        self._config = config
        self._lost = lost
        self._clock = clock
        # Replaced as a whole and never changed, because another thread reads it.
        self._held: Mapping[PartitionId, Lease] = {}
        self._formats = NodeFormats()
        self._progress = clock()
        self._is_failing = False

    # Called in the thread of the process

    def hold(self, lease: Lease) -> None:
        self._held = {**self._held, lease.partition_id: lease}

    def let_go(self, lease: Lease) -> None:
        self._held = {key: held for key, held in self._held.items() if held != lease}

    def announce(self, formats: NodeFormats) -> None:
        """Write these formats to the row of the node from the next renewal on."""
        self._formats = formats

    def progress(self) -> None:
        """Report that the event loop of the process makes progress."""
        self._progress = self._clock()

    # Called in the thread of the renewal

    async def run(self, leases: RenewalTable) -> None:
        """Renew until cancelled."""
        while True:
            await self._attempt(leases)
            await asyncio.sleep(self._config.poll_seconds)

    async def _attempt(self, leases: RenewalTable) -> None:
        """Renew once, unless the process stands still."""
        stalled = self._clock() - self._progress
        if stalled > self._config.stall_seconds:
            self._report(f"the event loop has stood still for {self._config.stall_seconds:g} s")
            return
        try:
            await self._renew(leases)
        except Unavailable as refusal:
            self._report(refusal.detail)
        except Exception:
            logger.exception("a renewal of leases failed")
        else:
            self._report(None)

    async def _renew(self, leases: RenewalTable) -> None:
        seconds, held = self._config.lease_seconds, self._held
        await leases.beat(self._node_id, self._address, seconds=seconds, formats=self._formats)
        if not held:
            return
        epochs = {partition_id: lease.epoch for partition_id, lease in held.items()}
        kept = await leases.renew(self._node_id, epochs, seconds=seconds)
        for partition_id in epochs.keys() - kept:
            self._lost(held[partition_id])

    def _report(self, failure: str | None) -> None:
        """Log the first of several failures, and the first success afterwards."""
        if failure and not self._is_failing:
            logger.warning("leases are not renewed", extra={"reason": failure, "leases": len(self._held)})
        elif not failure and self._is_failing:
            logger.info("leases are renewed again", extra={"leases": len(self._held)})
        self._is_failing = failure is not None


# Runs a renewal while the block runs.
Renewing = Callable[[LeaseRenewal], AbstractAsyncContextManager[None]]


def renewing(dsn: str, config: ClusterConfig) -> Renewing:
    """Renewals in a separate thread, over a separate connection."""

    @asynccontextmanager
    async def run(renewal: LeaseRenewal) -> AsyncIterator[None]:
        async def renew() -> None:
            async with DedicatedDatabase(
                dsn,
                name="leases",
                statement_seconds=config.lease_seconds * STATEMENT_SHARE,
            ) as database:
                await renewal.run(Leases(database))

        async with LoopThread("leases", renew):
            yield

    return run
