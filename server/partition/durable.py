"""Partitions over PostgreSQL: each is recovered, and its loops run as long as its lease is held."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from server.engine.events import (
    ElementCompleted,
    ElementTerminated,
    Event,
    ProcessInstanceDeleted,
    VariablesErased,
)
from server.engine.keys import Key
from server.partition.config import InstancesConfig, JobsConfig, PartitionConfig, QuotaConfig
from server.partition.local import LocalPartition
from server.partition.meter import UNMEASURED, Meter
from server.partition.partition import Partition, Sent
from server.partition.quota import Quota
from server.partition.recovery import recovered
from server.platform.back_off import BackOff, Pauses
from server.platform.clock import Clock
from server.platform.errors import ServiceError
from server.platform.postgres.database import Database
from server.store.ports import Store
from server.store.postgres import recovery
from server.store.postgres.deletions import Deletions
from server.store.postgres.history import History
from server.store.postgres.leases import Lease
from server.store.postgres.ledger import PostgresLedger
from server.store.postgres.variable_erasures import VariableErasures

logger = logging.getLogger(__name__)

_BACK_OFF = BackOff(1.0, 30.0)
# Senders report commands, so this interval finds only commands of nodes that report nothing.
LOOK_SECONDS = 30.0
# Ended process instances are moved in groups, because each move is planned anew and costs a flush. Groups are small,
# because all rows of a group are moved by one statement.
MOVE_SECONDS = 1.0
MOST_MOVED = 200
_ENDS = (ElementCompleted, ElementTerminated)


@dataclass(frozen=True, slots=True)
class DurablePartitions:
    """Opens partitions for leases.

    `open` recovers the partition and runs its loops while the block runs; the caller runs `Partition.run`.
    `sent` is called with the partitions that the opened one has sent commands to.
    """

    dsn: str
    database: Database
    store: Store
    clock: Clock
    partition: PartitionConfig
    jobs: JobsConfig
    instances: InstancesConfig
    quota: QuotaConfig
    sent: Sent
    meter: Meter = UNMEASURED

    @asynccontextmanager
    async def open(self, lease: Lease) -> AsyncIterator[LocalPartition]:
        found = await recovered(
            lease,
            recovery.definitions(self.database),
            recovery.documents(self.database, lease.partition_id),
            self.partition.max_loaded_instances,
        )
        found.state.removed_tenants.update(await recovery.removed_tenants(self.database, lease.partition_id))
        quota = Quota(self.quota, found.active)
        await recovery.forget_reservations(self.database, lease.partition_id, lease.epoch)
        left = await recovery.ended(self.database, lease.partition_id)
        unread = await recovery.receivers(self.database, lease.partition_id)
        async with self._ledger(lease) as ledger, asyncio.TaskGroup() as tasks:
            partition = Partition(
                found.state,
                ledger,
                self.clock,
                self.partition,
                instances=self.instances,
                quota=quota,
                due=found.due,
                meter=self.meter,
            )
            partition.senders.append(self.sent)
            history = History(self.database)
            ended = Ended(partition, history, left)
            deleted = Deleted(partition, Deletions(self.database, history, partition.id))
            erased = Erased(partition, VariableErasures(self.database, partition.id))
            loops = (ended.run(), deleted.run(), erased.run(), _look_for_commands(partition))
            running = [tasks.create_task(loop) for loop in loops]
            self.sent(partition.id, unread)
            local = LocalPartition(partition, self.store, self.jobs, self.instances, deleted.hidden)
            self.meter.watch(local)
            try:
                yield local
            finally:
                self.meter.forget(local)
                for task in running:
                    task.cancel()

    def _ledger(self, lease: Lease) -> PostgresLedger:
        seconds = self.partition.statement_seconds
        return PostgresLedger(self.dsn, lease, database=self.database, statement_seconds=seconds)


class Ended:
    """Ended process instances in the tables of live ones; `run` moves them to the history."""

    def __init__(self, partition: Partition, history: History, left: Sequence[Key]) -> None:
        self._partition_id = partition.id
        self._history = history
        self._keys = list(left)
        self._some = asyncio.Event()
        if left:
            self._some.set()
        partition.observers.append(self._observe)

    async def run(self) -> None:
        pauses = Pauses(_BACK_OFF)
        while True:
            await self._some.wait()
            if len(self._keys) < MOST_MOVED:
                await asyncio.sleep(MOVE_SECONDS)
            keys = self._keys[:MOST_MOVED]
            try:
                await self._history.move(self._partition_id, keys)
            except ServiceError as refusal:
                logger.warning(
                    "moving ended process instances to history failed; retrying",
                    extra={"reason": refusal.detail},
                )
                await pauses.after_failure()
                continue
            pauses.succeeded()
            del self._keys[: len(keys)]
            if not self._keys:
                self._some.clear()

    def _observe(self, happened: Sequence[Event]) -> None:
        ended = [
            event.key for event in happened if isinstance(event, _ENDS) and event.key == event.instance.key
        ]
        if ended:
            self._keys += ended
            self._some.set()


class Deleted:
    """Process instances that callers deleted; `run` deletes their rows."""

    def __init__(self, partition: Partition, deletions: Deletions) -> None:
        self._deletions = deletions
        self._some = asyncio.Event()
        self._some.set()
        self._waiting: list[asyncio.Future[None]] = []
        self._has_ended = False
        partition.observers.append(self._observe)

    async def run(self) -> None:
        """Delete until cancelled: new deletions are hidden from searches first, then rows are deleted in steps."""
        pauses = Pauses(_BACK_OFF)
        try:
            while True:
                await self._some.wait()
                self._some.clear()
                waiting = len(self._waiting)
                try:
                    is_over = await self._go_on()
                except ServiceError as refusal:
                    logger.warning(
                        "deleting process instances failed; retrying", extra={"reason": refusal.detail}
                    )
                    await pauses.after_failure()
                    self._some.set()
                    continue
                pauses.succeeded()
                self._release(waiting)
                if not is_over:
                    self._some.set()
        finally:
            self._has_ended = True
            self._release(len(self._waiting))

    async def _go_on(self) -> bool:
        """Hide all new deletions and delete some rows; returns whether nothing is left."""
        while await self._deletions.hide():
            pass
        return not await self._deletions.delete_some()

    async def hidden(self) -> None:
        """Return when searches no longer find process instances whose deletion is committed.

        If this partition ends earlier, its next owner hides them.
        """
        if not self._has_ended:
            released = asyncio.get_running_loop().create_future()
            self._waiting.append(released)
            self._some.set()
            await released

    def _release(self, count: int) -> None:
        for future in self._waiting[:count]:
            if not future.done():
                future.set_result(None)
        del self._waiting[:count]

    def _observe(self, happened: Sequence[Event]) -> None:
        if any(isinstance(event, ProcessInstanceDeleted) for event in happened):
            self._some.set()


class Erased:
    """Process instances whose variables callers erased; `run` rewrites their rows."""

    def __init__(self, partition: Partition, erasures: VariableErasures) -> None:
        self._erasures = erasures
        self._some = asyncio.Event()
        self._some.set()
        partition.observers.append(self._observe)

    async def run(self) -> None:
        pauses = Pauses(_BACK_OFF)
        while True:
            await self._some.wait()
            self._some.clear()
            try:
                while await self._erasures.erase_some():
                    pass
            except ServiceError as refusal:
                logger.warning("erasing variables failed; retrying", extra={"reason": refusal.detail})
                await pauses.after_failure()
                self._some.set()
                continue
            pauses.succeeded()

    def _observe(self, happened: Sequence[Event]) -> None:
        if any(isinstance(event, VariablesErased) for event in happened):
            self._some.set()


async def _look_for_commands(partition: Partition) -> None:
    """Execute commands of other partitions that were not reported."""
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        try:
            await partition.catch_up()
        except ServiceError as refusal:
            logger.warning(
                "reading commands of other partitions failed; retrying", extra={"reason": refusal.detail}
            )
