"""Parses temporal values; raises ValueError for an invalid text."""

import re

from server.feel.temporal import zones
from server.feel.temporal.values import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    Date,
    DateTime,
    DaysDuration,
    MonthsDuration,
    Temporal,
    Time,
)

_DATE = r"(?P<year>-?(?:\d{4}|[1-9]\d{4,8}))-(?P<month>\d\d)-(?P<day>\d\d)"
_TIME = (
    r"(?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.(?P<fraction>\d{1,9}))?)?"
    r"(?:@(?P<name>[^@\[\]]+)|(?P<offset>Z|[+-]\d\d:\d\d(?::\d\d)?)(?:\[(?P<region>[^@\[\]]+)\])?)?"
)
_DATES = re.compile(_DATE, re.ASCII)
_TIMES = re.compile(f"T?{_TIME}", re.ASCII)
_DATE_TIMES = re.compile(f"{_DATE}(?:T{_TIME})?", re.ASCII)
_DAYS_DURATIONS = re.compile(
    r"(?P<sign>-?)P(?=-?\d|T)(?:(?P<days>-?\d+)D)?"
    r"(?:T(?=-?\d)(?:(?P<hours>-?\d+)H)?(?:(?P<minutes>-?\d+)M)?"
    r"(?:(?P<minus>-?)(?P<seconds>\d+)(?:\.(?P<fraction>\d{0,9}))?S)?)?",
    re.ASCII,
)
_MONTHS_DURATIONS = re.compile(
    r"(?P<sign>-?)P(?=-?\d)(?:(?P<years>-?\d+)Y)?(?:(?P<months>-?\d+)M)?", re.ASCII
)
_SMALL_Z = re.compile(r"(?<=\d)z\Z", re.ASCII)
_MAX_LENGTH = 100
_END_OF_DAY = 24


def date(text: str) -> Date:
    return _date(_matched(_DATES, text))


def time(text: str) -> Time:
    return _time(_matched(_TIMES, text))


def date_time(text: str) -> DateTime:
    """Parse a date and time; a date alone means its midnight."""
    match = _matched(_DATE_TIMES, text)
    if match["hour"] is None:
        return DateTime(_date(match), Time(0))
    date, clock = _date(match), _time(match)
    if int(match["hour"]) == _END_OF_DAY:
        date = Date.of_epoch_day(date.epoch_day + 1)
    if match["region"] is None:
        return zones.placed(date, clock, clock.zone)
    offset = zones.zone_of(match["offset"]).offset
    local = DateTime(date, clock).local
    return zones.at(local - offset * SECOND, zones.zone_of(match["region"]))


def with_capital_z(text: str) -> str:
    """Write a time's final `z` in upper case; a zone name may also end with `z`."""
    return _SMALL_Z.sub("Z", text)


def duration(text: str) -> DaysDuration | MonthsDuration:
    if len(text) <= _MAX_LENGTH and (match := _MONTHS_DURATIONS.fullmatch(text)) is not None:
        return MonthsDuration(_signed(match, int(match["years"] or 0) * 12 + int(match["months"] or 0)))
    match = _matched(_DAYS_DURATIONS, text)
    seconds = int(match["seconds"] or 0) * SECOND + _nanoseconds(match["fraction"])
    parts = (
        int(match["days"] or 0) * DAY,
        int(match["hours"] or 0) * HOUR,
        int(match["minutes"] or 0) * MINUTE,
        -seconds if match["minus"] else seconds,
    )
    return DaysDuration(_signed(match, sum(parts)))


def literal(text: str) -> Temporal:
    r"""Parse the text of a literal `@"…"`."""
    for read in (duration, date, time, date_time):
        try:
            return read(text)
        except ValueError:
            continue
    raise ValueError(f"'{text[:_MAX_LENGTH]}' is not a date, time or duration")


def _matched(pattern: re.Pattern[str], text: str) -> re.Match[str]:
    match = pattern.fullmatch(text) if len(text) <= _MAX_LENGTH else None
    if match is None:
        raise ValueError(f"'{text[:_MAX_LENGTH]}' is not in the form that is expected")
    return match


def _date(match: re.Match[str]) -> Date:
    return Date(int(match["year"]), int(match["month"]), int(match["day"]))


def _time(match: re.Match[str]) -> Time:
    """Parse a time; 24:00:00 is the midnight at the end of the day (ISO 8601)."""
    name = match["name"] or match["region"] or match["offset"]
    hour, minute = int(match["hour"]), int(match["minute"])
    seconds = int(match["second"] or 0) * SECOND + _nanoseconds(match["fraction"])
    zone = zones.zone_of(name) if name else None
    if hour == _END_OF_DAY and minute == seconds == 0:
        return Time(0, zone)
    return Time.of(hour, minute, seconds, zone=zone)


def _nanoseconds(fraction: str | None) -> int:
    return int((fraction or "").ljust(9, "0"))


def _signed(match: re.Match[str], amount: int) -> int:
    return -amount if match["sign"] else amount
