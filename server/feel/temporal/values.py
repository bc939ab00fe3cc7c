"""The five temporal types, and time zones."""

from dataclasses import dataclass
from typing import Final, TypeAlias

from server.feel.temporal import calendar

SECOND: Final = 1_000_000_000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR

_MAX_YEAR: Final = 999_999_999
MAX_DURATION: Final = 2**63 * SECOND
_MAX_MONTHS: Final = 2**31 * calendar.MONTHS_IN_YEAR


@dataclass(frozen=True, slots=True, order=True)
class Date:
    year: int
    month: int
    day: int

    def __post_init__(self) -> None:
        if not -_MAX_YEAR <= self.year <= _MAX_YEAR or not 1 <= self.month <= calendar.MONTHS_IN_YEAR:
            raise ValueError(f"no month {self.year}-{self.month}")
        if not 1 <= self.day <= calendar.days_in_month(self.year, self.month):
            raise ValueError(f"no day {self.year}-{self.month}-{self.day}")

    @classmethod
    def of_epoch_day(cls, day: int) -> "Date":
        return cls(*calendar.civil(day))

    @property
    def epoch_day(self) -> int:
        return calendar.epoch_day(self.year, self.month, self.day)


@dataclass(frozen=True, slots=True)
class Zone:
    """A zone; `offset` is in seconds, valid at the time that has the zone. `name` is an IANA id, if given."""

    offset: int
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Time:
    """A time; `nanoseconds` count from midnight. A local time has no zone."""

    nanoseconds: int
    zone: Zone | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.nanoseconds < DAY:
            raise ValueError(f"no time {self.nanoseconds} ns after midnight")

    @classmethod
    def of(cls, hour: int, minute: int, nanoseconds: int, *, zone: Zone | None = None) -> "Time":
        """Create a time; `nanoseconds` are the seconds and their fraction."""
        if not (0 <= hour < DAY // HOUR and 0 <= minute < HOUR // MINUTE and 0 <= nanoseconds < MINUTE):
            raise ValueError(f"no time {hour}:{minute} and {nanoseconds} ns")
        return cls(hour * HOUR + minute * MINUTE + nanoseconds, zone)

    @property
    def hour(self) -> int:
        return self.nanoseconds // HOUR

    @property
    def minute(self) -> int:
        return self.nanoseconds // MINUTE % 60

    @property
    def second(self) -> int:
        return self.nanoseconds // SECOND % 60

    @property
    def in_utc(self) -> int:
        """Nanoseconds for comparison: in UTC, or local for local times."""
        return self.nanoseconds - (self.zone.offset * SECOND if self.zone else 0)


@dataclass(frozen=True, slots=True)
class DateTime:
    """A date and time; the time's zone applies to both."""

    date: Date
    time: Time

    @property
    def zone(self) -> Zone | None:
        return self.time.zone

    @property
    def local(self) -> int:
        """Nanoseconds since 1970-01-01T00:00:00 in the zone's local time."""
        return self.date.epoch_day * DAY + self.time.nanoseconds

    @property
    def in_utc(self) -> int:
        """Nanoseconds for comparison: in UTC, or local for local date-times."""
        return self.date.epoch_day * DAY + self.time.in_utc


@dataclass(frozen=True, slots=True, order=True)
class DaysDuration:
    """A days-and-time duration."""

    nanoseconds: int

    def __post_init__(self) -> None:
        if abs(self.nanoseconds) > MAX_DURATION:
            raise ValueError("a duration out of bounds")


@dataclass(frozen=True, slots=True, order=True)
class MonthsDuration:
    """A years-and-months duration."""

    months: int

    def __post_init__(self) -> None:
        if abs(self.months) > _MAX_MONTHS:
            raise ValueError("a duration out of bounds")


Temporal: TypeAlias = Date | Time | DateTime | DaysDuration | MonthsDuration
