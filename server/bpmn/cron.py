"""Cron expressions of timer cycles, as in Spring: second, minute, hour, day of month, month, day of week, in UTC.

A field is `*` or a list of numbers and ranges, each with an optional step: `0`, `8-18`, `*/15`, `5/10`,
`1-31/2`. Months and days of the week have names (`JAN`, `MON`); Sunday is 0 or 7. `?` is `*` for both kinds
of days, `L` is the last day of the month, `L-3` the third day before it, `15W` the working day nearest to the
15th, `LW` the last working day; `5L` is the last Friday, `5#2` the second. A day must match both of its
fields. `@hourly`, `@daily` and others are abbreviations.
"""

import calendar
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, NamedTuple

# Within this many years, 29 February falls on each day of the week.
MOST_YEARS: Final = 40
_END_OF_TIME: Final = datetime.max.replace(tzinfo=UTC)
_WEEK: Final = 7
_SATURDAY, _SUNDAY = 6, 7

_MACROS: Mapping[str, str] = {
    "@yearly": "0 0 0 1 1 *",
    "@annually": "0 0 0 1 1 *",
    "@monthly": "0 0 0 1 * *",
    "@weekly": "0 0 0 * * 0",
    "@daily": "0 0 0 * * *",
    "@midnight": "0 0 0 * * *",
    "@hourly": "0 0 * * * *",
}
_MONTHS = ("", "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
_PART = re.compile(r"(\*|\w+)(?:-(\w+))?(?:/(\d{1,2}))?", re.ASCII)
_NTH = re.compile(r"(\w+)#([1-5])", re.ASCII)
_LAST = re.compile(r"(\w+)L", re.ASCII)
_BEFORE_LAST = re.compile(r"L(?:-(\d{1,2}))?", re.ASCII)
_NEAREST = re.compile(r"(\d{1,2}|L)W", re.ASCII)


class MalformedCron(ValueError):
    """The text is not a cron expression."""


class _Field(NamedTuple):
    name: str
    lowest: int
    highest: int
    names: tuple[str, ...] = ()


_FIELDS = (
    _Field("second", 0, 59),
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of the week", 0, 7, _WEEKDAYS),
)
_DAY, _WEEKDAY = _FIELDS[3], _FIELDS[5]


class _Days(NamedTuple):
    """Days of a month: day numbers, distances from the last day, and days whose nearest working day counts.

    In `nearest`, 0 is the last day of the month.
    """

    numbers: frozenset[int]
    before_last: frozenset[int]
    nearest: frozenset[int]

    def of(self, year: int, month: int) -> list[int]:
        last = calendar.monthrange(year, month)[1]
        found = {day for day in self.numbers if day <= last}
        found |= {last - distance for distance in self.before_last if distance < last}
        found |= {_working_day(year, month, day or last, last) for day in self.nearest if day <= last}
        return sorted(found)


def _working_day(year: int, month: int, day: int, last: int) -> int:
    """The day itself, or the nearest day from Monday to Friday in the same month."""
    weekday = date(year, month, day).isoweekday()
    if weekday == _SATURDAY:
        return day - 1 if day > 1 else day + 2
    if weekday == _SUNDAY:
        return day + 1 if day < last else day - 2
    return day


@dataclass(frozen=True, slots=True)
class Cron:
    """A parsed cron expression.

    Sunday is 0 among the days of the week; `nth` are pairs of a day of the week and its place in the month,
    -1 for the last.
    """

    seconds: tuple[int, ...]
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: "_Days"
    months: frozenset[int]
    weekdays: frozenset[int]
    nth: frozenset[tuple[int, int]]

    def after(self, instant: datetime) -> datetime:
        """The first matching time after the instant; the end of time when none is within `MOST_YEARS`."""
        if instant.year == date.max.year:
            return _END_OF_TIME
        earliest = instant.astimezone(UTC).replace(microsecond=0) + timedelta(seconds=1)
        for day in self._fitting(earliest.date()):
            first = earliest.time() if day == earliest.date() else time()
            found = self._time_from(first)
            if found is not None:
                return datetime.combine(day, found, UTC)
        return _END_OF_TIME

    def _fitting(self, first: date) -> Iterator[date]:
        for year in range(first.year, min(first.year + MOST_YEARS, date.max.year) + 1):
            for month in sorted(self.months):
                if (year, month) < (first.year, first.month):
                    continue
                last = calendar.monthrange(year, month)[1]
                days = (date(year, month, day) for day in self.days.of(year, month))
                yield from (day for day in days if day >= first and self._fits(day, last))

    def _fits(self, day: date, last: int) -> bool:
        weekday = day.isoweekday() % _WEEK
        is_last = day.day > last - _WEEK
        return (
            weekday in self.weekdays
            or (weekday, (day.day - 1) // _WEEK + 1) in self.nth
            or (is_last and (weekday, -1) in self.nth)
        )

    def _time_from(self, first: time) -> time | None:
        """The first matching time of a day, not before `first`."""
        for hour in self.hours[bisect_left(self.hours, first.hour) :]:
            minutes = self.minutes
            if hour == first.hour:
                minutes = minutes[bisect_left(minutes, first.minute) :]
            for minute in minutes:
                is_first = (hour, minute) == (first.hour, first.minute)
                seconds = self.seconds[bisect_left(self.seconds, first.second) if is_first else 0 :]
                if seconds:
                    return time(hour, minute, seconds[0])
        return None


def is_cron(text: str) -> bool:
    """Whether the text is meant as a cron expression."""
    return text.startswith("@") or len(text.split()) > 1


def cron(text: str) -> Cron:
    """Parse a cron expression; raises MalformedCron."""
    fields = _MACROS.get(text.strip().lower(), text).upper().split()
    if len(fields) != len(_FIELDS):
        raise MalformedCron(f"expected a cron expression of {len(_FIELDS)} fields, found '{text}'")
    weekdays, nth = _weekdays(fields[5])
    seconds, minutes, hours, months = (_values(fields[place], _FIELDS[place]) for place in (0, 1, 2, 4))
    return Cron(
        tuple(sorted(seconds)),
        tuple(sorted(minutes)),
        tuple(sorted(hours)),
        _days(fields[3]),
        frozenset(months),
        weekdays,
        nth,
    )


def _days(text: str) -> _Days:
    numbers: set[int] = set()
    before_last: set[int] = set()
    nearest: set[int] = set()
    for part in text.split(","):
        distance, working_day = _BEFORE_LAST.fullmatch(part), _NEAREST.fullmatch(part)
        if distance is not None and int(distance[1] or 0) < _DAY.highest:
            before_last.add(int(distance[1] or 0))
        elif working_day is not None:
            nearest.add(0 if working_day[1] == "L" else _number(working_day[1], _DAY))
        else:
            numbers |= _values(part, _DAY)
    return _Days(frozenset(numbers), frozenset(before_last), frozenset(nearest))


def _weekdays(text: str) -> tuple[frozenset[int], frozenset[tuple[int, int]]]:
    """The days of the week that always match, and those that match in one week of a month."""
    always: set[int] = set()
    nth: set[tuple[int, int]] = set()
    for part in text.split(","):
        numbered, last = _NTH.fullmatch(part), _LAST.fullmatch(part)
        if numbered is not None:
            nth.add((_number(numbered[1], _WEEKDAY) % _WEEK, int(numbered[2])))
        elif last is not None:
            nth.add((_number(last[1], _WEEKDAY) % _WEEK, -1))
        else:
            always |= {value % _WEEK for value in _values(part, _WEEKDAY)}
    return frozenset(always), frozenset(nth)


def _values(text: str, field: _Field) -> set[int]:
    found: set[int] = set()
    for part in text.split(","):
        if part == "?" and field in {_DAY, _WEEKDAY}:
            found.update(range(field.lowest, field.highest + 1))
        else:
            found.update(_range(part, field))
    return found


def _range(part: str, field: _Field) -> range:
    match = _PART.fullmatch(part)
    if match is None:
        raise _malformed(part, field)
    first, last, step = match.groups()
    if first == "*":
        low, high = field.lowest, field.highest
    else:
        low = _number(first, field)
        high = _number(last, field, is_end=True) if last else field.highest if step else low
    is_bad_step = step is not None and int(step) == 0
    if low > high or is_bad_step or (first == "*" and last):
        raise _malformed(part, field)
    return range(low, high + 1, int(step or 1))


def _number(text: str, field: _Field, *, is_end: bool = False) -> int:
    if text in field.names:
        names = field.names
        # A range ends with the second of the two Sundays.
        return len(names) - 1 - names[::-1].index(text) if is_end else names.index(text)
    if not text.isdecimal() or not field.lowest <= int(text) <= field.highest:
        raise _malformed(text, field)
    return int(text)


def _malformed(text: str, field: _Field) -> MalformedCron:
    return MalformedCron(
        f"expected a {field.name} from {field.lowest} to {field.highest}, a range or a step, found '{text}'"
    )
