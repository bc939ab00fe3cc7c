"""The source of the current time."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Tells the time as an aware datetime in UTC."""

    def now(self) -> datetime: ...

    def seconds_until(self, instant: datetime) -> float | None:
        """Seconds until an instant; None if the clock is pinned before it."""
        ...


def to_the_millisecond(instant: datetime) -> datetime:
    """Truncate an instant to milliseconds, the precision on the wire, so that clients can search for it."""
    return instant.replace(microsecond=instant.microsecond // 1000 * 1000)


class SystemClock:
    """The system clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251  # the one place where time enters

    def seconds_until(self, instant: datetime) -> float | None:
        return max((instant - self.now()).total_seconds(), 0.0)


class DatabaseClock:
    """The clock of the database, which all nodes of a deployment follow, so that lifetimes end everywhere at once.

    It continues the last known time of the database with the monotonic clock; a step of the system clock does not matter.
    Before the first correction it is the underlying clock. Afterwards it never goes back: a correction to an earlier time
    makes it stand still until the database's time has caught up.
    """

    def __init__(
        self, underlying: Clock | None = None, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._underlying = underlying or SystemClock()
        self.monotonic = monotonic
        # The time of the database when the monotonic clock was zero.
        self._zero: datetime | None = None
        self._latest = datetime.min.replace(tzinfo=UTC)

    def now(self) -> datetime:
        if self._zero is None:
            return self._underlying.now()
        self._latest = max(self._latest, self._zero + timedelta(seconds=self.monotonic()))
        return self._latest

    def seconds_until(self, instant: datetime) -> float | None:
        return max((instant - self.now()).total_seconds(), 0.0)

    @property
    def offset(self) -> timedelta:
        """The time of the database less that of the underlying clock."""
        return self.now() - self._underlying.now()

    def correct(self, found: datetime, *, asked: float, answered: float) -> timedelta:
        """Correct the clock by as little as `found` demands, and return the correction.

        The database had this time between two readings of the monotonic clock. At the first correction the middle counts.
        """
        earliest, latest = found - timedelta(seconds=answered), found - timedelta(seconds=asked)
        before = self._zero
        if before is None:
            self._zero = earliest + (latest - earliest) / 2
            return self.offset
        self._zero = min(max(before, earliest), latest)
        return self._zero - before


class VirtualClock:
    """A clock for tests: follows another clock until it is pinned, then stands still until moved."""

    def __init__(self, underlying: Clock | None = None, *, pinned: datetime | None = None) -> None:
        self._underlying = underlying or SystemClock()
        self._pinned = pinned

    @property
    def is_pinned(self) -> bool:
        return self._pinned is not None

    def now(self) -> datetime:
        return self._pinned or self._underlying.now()

    def seconds_until(self, instant: datetime) -> float | None:
        if self._pinned is None:
            return self._underlying.seconds_until(instant)
        return 0.0 if instant <= self._pinned else None

    def pin(self, instant: datetime) -> None:
        self._pinned = instant

    def advance(self, by: timedelta) -> None:
        """Pin the clock `by` later than its current time."""
        self._pinned = self.now() + by

    def reset(self) -> None:
        self._pinned = None
