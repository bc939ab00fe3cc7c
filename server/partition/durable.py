"""Partitions over PostgreSQL: each is recovered, and its loops run as long as its lease is held."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from server.engine.events import (
    ElementCompleted,
    ElementTerminated,
    Event,
    ProcessInstanceDeleted,
    VariablesErased,
)
from server.engine.keys import Key
from server.partition.commits import CAREFUL_COMMITS
from server.partition.config import InstancesConfig, JobsConfig, PartitionConfig, QuotaConfig
from server.partition.local import LocalPartition
from server.partition.meter import UNMEASURED, Meter
from server.partition.partition import Partition, Sent
from server.partition.quota import Quota
from server.partition.recovery import recovered
from server.platform.back_off import BackOff, Pauses
from server.platform.clock import Clock
from server.platform.errors import ServiceError, Unavailable
from server.platform.postgres.database import Database
from server.platform.postgres.outage import FAULTS, is_too_large
from server.store.ports import BatchRefused, PartitionId, Store
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
# The number of moves of one process instance that fail before it is set aside.
MOST_FAILURES = 3
# A commit of one command gets up to this power of two of its time.
MOST_DOUBLINGS = 3
_ENDS = (ElementCompleted, ElementTerminated)


@dataclass(frozen=True, slots=True)
class DurablePartitions:
    """Opens partitions for leases.

    `open` recovers the partition and runs its loops while the block runs; the caller runs `Partition.run`.
    `sent` is called with the partitions that the opened one has sent commands to. `database` is for what
    commands wait for, `background` for moves to history and deletions. Commits prolong a lease to
    `lease_seconds`.

    After a commit that was too large for the database, the next owner in this process begins carefully, with
    one command in each commit. If one of these is too large as well, the next attempt has twice the time.
    """

    dsn: str
    database: Database
    background: Database
    store: Store
    clock: Clock
    partition: PartitionConfig
    jobs: JobsConfig
    instances: InstancesConfig
    quota: QuotaConfig
    sent: Sent
    meter: Meter = UNMEASURED
    lease_seconds: float = 0.0
    refused: Counter[PartitionId] = field(default_factory=Counter)

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
                careful=CAREFUL_COMMITS if self.refused[lease.partition_id] else 0,
            )
            partition.senders.append(self.sent)
            history = History(self.background)
            ended = Ended(partition, history, left, self.meter)
            deleted = Deleted(partition, Deletions(self.background, history, partition.id))
            erased = Erased(partition, VariableErasures(self.background, partition.id))
            loops = (ended.run(), deleted.run(), erased.run(), _look_for_commands(partition))
            running = [tasks.create_task(loop) for loop in loops]
            self.sent(partition.id, unread)
            local = LocalPartition(partition, self.store, self.jobs, self.instances, deleted.hidden)
            self.meter.watch(local)
            try:
                yield local
            except* BatchRefused:
                self._note_refused(partition)
                raise
            finally:
                self.meter.forget(local)
                for task in running:
                    task.cancel()

    def _note_refused(self, partition: Partition) -> None:
        if not partition.is_careful:
            self.refused[partition.id] = 0
        self.refused[partition.id] += 1

    def _ledger(self, lease: Lease) -> PostgresLedger:
        doublings = min(max(self.refused[lease.partition_id] - 1, 0), MOST_DOUBLINGS)
        return PostgresLedger(
            self.dsn,
            lease,
            database=self.database,
            statement_seconds=self.partition.statement_seconds * 2**doublings,
            lease_seconds=self.lease_seconds,
            failed=self.meter.commit_failed,
        )


class Ended:
    """Ended process instances in the tables of live ones; `run` moves them to the history.

    A move that fails is repeated with half of its process instances. One that fails alone waits behind the
    others, and after `MOST_FAILURES` it stays where it is until the partition is recovered again; an outage
    of the database does not count.
    """

    def __init__(
        self, partition: Partition, history: History, left: Sequence[Key], meter: Meter = UNMEASURED
    ) -> None:
        self._partition_id = partition.id
        self._history = history
        self._meter = meter
        self._keys = list(left)
        self._most = MOST_MOVED
        self._failures = Counter[Key]()
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
            keys = self._keys[: self._most]
            try:
                keys = keys[: await self._history.fitting(self._partition_id, keys)]
                await self._history.move(self._partition_id, keys)
            except (ServiceError, *FAULTS) as failure:
                self._note_failure(keys, failure)
                if isinstance(failure, ServiceError):
                    await pauses.after_failure()
            else:
                pauses.succeeded()
                self._most = min(2 * self._most, MOST_MOVED)
                del self._keys[: len(keys)]
            if not self._keys:
                self._some.clear()

    def _note_failure(self, keys: Sequence[Key], failure: Exception) -> None:
        facts = {"partition_id": self._partition_id, "process_instances": len(keys), "reason": str(failure)}
        logger.warning("moving ended process instances to history failed; retrying", extra=facts)
        self._most = max(len(keys) // 2, 1)
        is_outage = isinstance(failure, Unavailable) and not is_too_large(failure.__cause__)
        if len(keys) > 1 or is_outage:
            return
        (key,) = keys
        del self._keys[0]
        self._failures[key] += 1
        if self._failures[key] < MOST_FAILURES:
            self._keys.append(key)
            return
        del self._failures[key]
        self._meter.move_failed()
        logger.error(
            "an ended process instance cannot be moved to history and stays among the live ones",
            extra={"partition_id": self._partition_id, "process_instance_key": key},
            exc_info=failure,
        )

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
