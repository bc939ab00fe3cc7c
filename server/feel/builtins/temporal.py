"""Functions on dates, times and durations, and on the calendar."""

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from server.feel import decimals
from server.feel.decimals import Number
from server.feel.errors import InvocationError
from server.feel.run import Run
from server.feel.signatures import Family
from server.feel.temporal import calendar, parser, zones
from server.feel.temporal.arithmetic import months_between
from server.feel.temporal.values import (
    DAY,
    SECOND,
    Date,
    DateTime,
    DaysDuration,
    MonthsDuration,
    Time,
    Zone,
)

_OnDay: TypeAlias = Date | DateTime
_Read = TypeVar("_Read")

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_MAX_PART = 10**10


def date(from_: str | Date | DateTime) -> Date:
    return _read(parser.date, "date", from_) if isinstance(from_, str) else _day(from_)


def date_of_parts(run: Run, year: Number, month: Number, day: Number) -> Date:
    return Date(_whole(run, year), _whole(run, month), _whole(run, day))


def time(run: Run, from_: str | Date | Time | DateTime) -> Time:
    if isinstance(from_, str):
        return _read(parser.time, "time", _spelled(run, from_))
    if isinstance(from_, Date):
        return Time(0, Zone(0))
    return from_.time if isinstance(from_, DateTime) else from_


def time_of_parts(
    run: Run, hour: Number, minute: Number, second: Number, offset: DaysDuration | None = None
) -> Time:
    seconds = decimals.multiply(second, SECOND)
    zone = None if offset is None else zones.fixed(_whole_seconds(offset))
    return Time.of(_whole(run, hour), _whole(run, minute), decimals.truncated(seconds, DAY), zone=zone)


def date_and_time(run: Run, from_: str | Date | DateTime) -> DateTime:
    if isinstance(from_, str):
        return _read(parser.date_time, "date and time", _spelled(run, from_))
    return DateTime(from_, Time(0)) if isinstance(from_, Date) else from_


def date_and_time_of_parts(date: Date | DateTime, time: Time) -> DateTime:
    return zones.placed(_day(date), time, time.zone)


def date_and_time_in_zone(date: DateTime, timezone: str) -> DateTime:
    """Place a local date-time in the zone, or convert a zoned one to it."""
    zone = zones.zone_of(timezone)
    return zones.placed(date.date, date.time, zone) if date.zone is None else zones.at(date.in_utc, zone)


def duration(from_: str | DaysDuration | MonthsDuration) -> DaysDuration | MonthsDuration:
    return _read(parser.duration, "duration", from_) if isinstance(from_, str) else from_


def years_and_months_duration(from_: _OnDay, to: _OnDay) -> MonthsDuration:
    return months_between(_day(from_), _day(to))


def now(run: Run) -> DateTime:
    moment = run.ports.now
    if moment is None:
        raise InvocationError("no time is given")
    offset = moment.utcoffset()
    if offset is None:
        raise InvocationError("the time that is given has no zone")
    name = getattr(moment.tzinfo, "key", None)
    seconds = round(offset.total_seconds())
    day = calendar.epoch_day(moment.year, moment.month, moment.day)
    clock = Time.of(moment.hour, moment.minute, moment.second * SECOND + moment.microsecond * 1_000)
    return zones.at(day * DAY + clock.nanoseconds - seconds * SECOND, Zone(seconds, name))


def today(run: Run) -> Date:
    return now(run).date


def day_of_week(date: _OnDay) -> str:
    return WEEKDAYS[calendar.weekday(_day(date).epoch_day) - 1]


def day_of_year(date: _OnDay) -> int:
    day = _day(date)
    return calendar.day_of_year(day.year, day.month, day.day)


def week_of_year(date: _OnDay) -> int:
    day = _day(date)
    return calendar.week_of_year(day.year, day.month, day.day)


def month_of_year(date: _OnDay) -> str:
    return MONTHS[_day(date).month - 1]


def last_day_of_month(date: _OnDay) -> Date:
    day = _day(date)
    return Date(day.year, day.month, calendar.days_in_month(day.year, day.month))


def _spelled(run: Run, text: str) -> str:
    return parser.with_capital_z(text) if run.dialect.reads_small_z else text


def _read(read: Callable[[str], _Read], kind: str, text: str) -> _Read:
    try:
        return read(text)
    except ValueError as error:
        raise InvocationError(f"Failed to parse {kind} from '{text}'") from error


def _day(value: _OnDay) -> Date:
    return value.date if isinstance(value, DateTime) else value


def _whole(run: Run, number: Number) -> int:
    if not (run.dialect.cuts_parts or decimals.is_whole(number)):
        raise ValueError(f"{number} is not whole")
    return decimals.truncated(number, _MAX_PART)


def _whole_seconds(duration: DaysDuration) -> int:
    seconds, rest = divmod(duration.nanoseconds, SECOND)
    if rest:
        raise ValueError("an offset of whole seconds is needed")
    return seconds


FUNCTIONS: Family = {
    "date": (date, date_of_parts),
    "time": (time, time_of_parts),
    "date and time": (date_and_time, date_and_time_of_parts, date_and_time_in_zone),
    "duration": duration,
    "years and months duration": years_and_months_duration,
    "now": now,
    "today": today,
    "day of week": day_of_week,
    "day of year": day_of_year,
    "week of year": week_of_year,
    "month of year": month_of_year,
    "last day of month": last_day_of_month,
}
