"""When two temporal values are the same, and which of two comes first."""

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
    """A sort key: first the kind within which values are comparable, local and zoned being two, then the place in it."""
    return _RANKS[type(value)](value)


def structure(value: Temporal) -> Hashable:
    """Same only if written alike: the same instant in two zones is not."""
    return value


def instant_of_second(value: Temporal) -> Hashable:
    """DMN 1.5 §10.3.2.3.4 to 10.3.2.3.6 compare by whole seconds, in UTC where there is a zone."""
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
