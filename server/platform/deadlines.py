"""Deadlines for many short calls: one timer for all deadlines within the same quarter of a second.

A timer per call would cost more than some calls. A call may therefore exceed its deadline by a quarter of a
second.
"""

import asyncio
import math
from types import TracebackType

GRANULARITY_SECONDS = 0.25


class Deadlines:
    """The deadlines of calls in one event loop."""

    def __init__(self) -> None:
        self._buckets: dict[int, set[Deadline]] = {}

    def within(self, seconds: float) -> "Deadline":
        """Return a context manager that cancels its block after the seconds and raises TimeoutError."""
        loop = asyncio.get_running_loop()
        number = math.ceil((loop.time() + seconds) / GRANULARITY_SECONDS)
        bucket = self._buckets.get(number)
        if bucket is None:
            bucket = self._buckets[number] = set()
            loop.call_at(number * GRANULARITY_SECONDS, self._end, number)
        return Deadline(bucket)

    def _end(self, number: int) -> None:
        for deadline in list(self._buckets.pop(number)):
            deadline.expire()


class Deadline:
    """Like `asyncio.timeout`: tells its own cancellation of the task from other cancellations."""

    __slots__ = ("_bucket", "_cancelling", "_task", "is_past")

    def __init__(self, bucket: set["Deadline"]) -> None:
        self._bucket = bucket
        self.is_past = False

    def __enter__(self) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a deadline needs a task to cancel")
        self._task = task
        self._cancelling = task.cancelling()
        self._bucket.add(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bucket.discard(self)
        if self.is_past and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def expire(self) -> None:
        self.is_past = True
        self._task.cancel()
