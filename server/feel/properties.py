"""Paths `.name` on values other than lists: entries of contexts, and properties of other types."""

from collections.abc import Callable, Mapping
from itertools import islice
from typing import TypeAlias

from server.feel.failures import FailureType
from server.feel.run import Run, verbatim
from server.feel.temporal import calendar
from server.feel.temporal.values import (
    DAY,
    HOUR,
    MAX_DURATION,
    MINUTE,
    SECOND,
    Date,
    DateTime,
    DaysDuration,
    MonthsDuration,
    Time,
)
from server.feel.values import MISSING, Context, Range, Value

_Properties: TypeAlias = Mapping[str, Callable[..., Value]]


def _time_offset(time: Time) -> Value:
    return DaysDuration(time.zone.offset * SECOND) if time.zone else None


def _towards_zero(unit: int, next_unit: int) -> Callable[[DaysDuration], int]:
    """Return a function that counts whole units below the next unit, with the duration's sign."""

    def count(duration: DaysDuration) -> int:
        amount = abs(duration.nanoseconds) % next_unit // unit
        return -amount if duration.nanoseconds < 0 else amount

    return count


_DATE: _Properties = {
    "year": lambda date: date.year,
    "month": lambda date: date.month,
    "day": lambda date: date.day,
    "weekday": lambda date: calendar.weekday(date.epoch_day),
}
_TIME: _Properties = {
    "timezone": lambda time: time.zone.name if time.zone else None,
    "second": lambda time: time.second,
    "time offset": _time_offset,
    "minute": lambda time: time.minute,
    "hour": lambda time: time.hour,
}
_ORDER_OF_DATE_TIME = (
    "timezone",
    "year",
    "second",
    "month",
    "day",
    "time offset",
    "weekday",
    "minute",
    "hour",
)


def _of_date_time(name: str) -> Callable[[DateTime], Value]:
    if name in _DATE:
        return lambda value: _DATE[name](value.date)
    return lambda value: _TIME[name](value.time)


PROPERTIES: Mapping[type, _Properties] = {
    Date: _DATE,
    Time: _TIME,
    DateTime: {name: _of_date_time(name) for name in _ORDER_OF_DATE_TIME},
    DaysDuration: {
        "days": _towards_zero(DAY, MAX_DURATION + DAY),
        "hours": _towards_zero(HOUR, DAY),
        "minutes": _towards_zero(MINUTE, HOUR),
        "seconds": _towards_zero(SECOND, MINUTE),
    },
    MonthsDuration: {
        "years": lambda duration: int(duration.months / 12),
        "months": lambda duration: duration.months - 12 * int(duration.months / 12),
    },
    Range: {
        "start": lambda value: value.start,
        "end": lambda value: value.end,
        "start included": lambda value: value.start_included,
        "end included": lambda value: value.end_included,
    },
}


def property_of(run: Run, value: Value, key: str, position: int) -> Value:
    if isinstance(value, dict):
        return _entry(run, value, key, position)
    if value is None:
        _no_entry(run, key, "The context is null", position)
        return None
    properties = PROPERTIES.get(type(value), {})
    if key in properties:
        return properties[key](value)
    available = f". Available properties: {_quoted(properties)}" if properties else ""
    complaint = f"No property found with name '{verbatim(key)}' of value '{{}}'{available}"
    run.fail(FailureType.NO_PROPERTY_FOUND, complaint, value, position=position)
    return None


def _entry(run: Run, context: Context, key: str, position: int) -> Value:
    found = context.get(key, MISSING)
    if found is not MISSING:
        return found
    _no_entry(
        run, key, f"Available keys: {_quoted(context)}" if context else "The context is empty", position
    )
    return None


def _no_entry(run: Run, key: str, reason: str, position: int) -> None:
    complaint = verbatim(f"No context entry found with key '{key}'. {reason}")
    run.fail(FailureType.NO_CONTEXT_ENTRY_FOUND, complaint, position=position)


def _quoted(names: Mapping[str, object]) -> str:
    return ", ".join(f"'{name}'" for name in islice(names, _MAX_NAMES))


_MAX_NAMES = 20
