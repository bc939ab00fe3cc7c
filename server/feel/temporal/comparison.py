"""Equality and order of temporal values."""

from collections.abc import Callable, Hashable, Mapping

from server.feel.temporal.values import (
    SECOND,
    Date,
    DateTime,
    DaysDuration,
    MonthsDuration,
    Temporal,
    Time,
)


def rank(value: Temporal) -> tuple[str, int | tuple[int, int, int]]:
    """Return a sort key: the kind within which values are comparable (local and zoned differ), then the position in it."""
    return _RANKS[type(value)](value)


def structure(value: Temporal) -> Hashable:
    """Values are equal only with the same representation; the same instant in two zones differs."""
    return value


def instant_of_second(value: Temporal) -> Hashable:
    """Values are compared by whole seconds, in UTC if zoned (DMN 1.5 §10.3.2.3.4 to 10.3.2.3.6)."""
    if isinstance(value, Time | DateTime):
        return type(value), value.zone is None, value.in_utc // SECOND
    return value


_RANKS: Mapping[type, Callable[..., tuple[str, int | tuple[int, int, int]]]] = {
    Date: lambda value: ("date", (value.year, value.month, value.day)),
    Time: lambda value: ("time" if value.zone else "local time", value.in_utc),
    DateTime: lambda value: ("date time" if value.zone else "local date time", value.in_utc),
    DaysDuration: lambda value: ("days", value.nanoseconds),
    MonthsDuration: lambda value: ("months", value.months),
}
