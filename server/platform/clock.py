"""The source of the current time."""

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
