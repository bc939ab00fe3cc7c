"""Metrics of what waits in the database, counted every few seconds and reported as last counted."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator

from server.platform.errors import Unavailable
from server.platform.metrics import Gauge, Metrics
from server.store.ports import PartitionId
from server.store.postgres.backlog import Backlog, Outbox

logger = logging.getLogger(__name__)

Count = Callable[[], Awaitable[Backlog]]

_PARTITION = ("partition",)


class Samples:
    """`run` counts until it is cancelled. While the database is away, leases age and everything else stays as it was."""

    def __init__(self, metrics: Metrics, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._backlog = Backlog()
        self._counted_at = clock()
        # The oldest command of each outbox, and since when it has been the oldest.
        self._oldest: dict[tuple[PartitionId, PartitionId], tuple[int, float]] = {}
        for name, meaning, read, labels in (
            ("gnomon_lease_seconds", "Time until a lease expires", self._leases, _PARTITION),
            ("gnomon_outbox_commands", "Commands of other partitions to carry out", self._sizes, _PARTITION),
            (
                "gnomon_outbox_lag_seconds",
                "Age of the oldest of them, since it was seen",
                self._lags,
                _PARTITION,
            ),
            ("gnomon_retry_queue_tasks", "Tasks that wait in the retry queue", self._retries, ("queue",)),
        ):
            metrics.gauge(name, meaning, read, labels)

    async def run(self, count: Count, *, seconds: float) -> None:
        while True:
            try:
                self.take(await count())
            except Unavailable as refusal:
                logger.warning("what waits in the database is not counted", extra={"reason": refusal.detail})
            await asyncio.sleep(seconds)

    def take(self, backlog: Backlog) -> None:
        """Report this from now on."""
        now = self._clock()
        oldest = {}
        for outbox in backlog.outboxes:
            place = (outbox.target, outbox.source)
            first, since = self._oldest.get(place, (outbox.first, now))
            oldest[place] = (outbox.first, since if first == outbox.first else now)
        self._backlog, self._counted_at, self._oldest = backlog, now, oldest

    def _leases(self) -> Iterator[Gauge]:
        age = self._clock() - self._counted_at
        for partition_id, seconds in self._backlog.lease_seconds.items():
            yield Gauge(seconds - age, (str(partition_id),))

    def _sizes(self) -> Iterator[Gauge]:
        for target in self._targets():
            yield Gauge(sum(outbox.count for outbox in self._of(target)), (str(target),))

    def _lags(self) -> Iterator[Gauge]:
        now = self._clock()
        for target in self._targets():
            oldest = (self._oldest[outbox.target, outbox.source][1] for outbox in self._of(target))
            yield Gauge(max((now - since for since in oldest), default=0.0), (str(target),))

    def _targets(self) -> Iterator[PartitionId]:
        """List the partitions of this node, with an outbox or without."""
        return iter(self._backlog.lease_seconds)

    def _of(self, target: PartitionId) -> Iterator[Outbox]:
        return (outbox for outbox in self._backlog.outboxes if outbox.target == target)

    def _retries(self) -> Iterator[Gauge]:
        for queue, count in self._backlog.retries.items():
            yield Gauge(count, (queue,))
