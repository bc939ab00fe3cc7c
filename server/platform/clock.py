"""Where time comes from."""

from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Tells the time, aware and in UTC."""

    def now(self) -> datetime: ...

    def seconds_until(self, instant: datetime) -> float | None:
        """How long to sleep until then; None when the clock will not get there by itself."""
        ...


def to_the_millisecond(instant: datetime) -> datetime:
    """As the wire writes it, so that what was read can be searched for."""
    return instant.replace(microsecond=instant.microsecond // 1000 * 1000)


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251  # the one place where time enters

    def seconds_until(self, instant: datetime) -> float | None:
        return max((instant - self.now()).total_seconds(), 0.0)


class VirtualClock:
    """Runs with another clock until it is pinned; then stands still until moved."""

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
        """Pin the clock `by` later than it stands."""
        self._pinned = self.now() + by

    def reset(self) -> None:
        self._pinned = None
