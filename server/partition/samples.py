"""Metrics of outboxes, leases and the retry queue in the database, sampled every few seconds."""

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
    """Samples the database in `run`, until cancelled. While it is unreachable, leases age and other values stay."""

    def __init__(self, metrics: Metrics, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._backlog = Backlog()
        self._counted_at = clock()
        # The oldest command of each outbox, and when it was first seen as the oldest.
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
                logger.warning("sampling the database failed; retrying", extra={"reason": refusal.detail})
            await asyncio.sleep(seconds)

    def take(self, backlog: Backlog) -> None:
        """Report this sample from now on."""
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
        """The partitions of this node, with or without an outbox."""
        return iter(self._backlog.lease_seconds)

    def _of(self, target: PartitionId) -> Iterator[Outbox]:
        return (outbox for outbox in self._backlog.outboxes if outbox.target == target)

    def _retries(self) -> Iterator[Gauge]:
        for queue, count in self._backlog.retries.items():
            yield Gauge(count, (queue,))
