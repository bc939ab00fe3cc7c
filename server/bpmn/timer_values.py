"""Dates, durations and cycles of timers, in ISO 8601 as BPMN 2.0.2 §10.5.5.11 requires.

A date has an offset, or a zone in brackets as in `2030-01-01T08:00:00+01:00[Europe/Berlin]`. A duration may
mix years and seconds, and may have a sign. A cycle is `R3/PT10S`, `R/PT10S`, `R3/<date>/PT10S` or a cron
expression; without a number of repetitions it has no end.
"""

import calendar
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from server import feel
from server.bpmn.cron import Cron, MalformedCron, cron, is_cron
from server.feel import DateTime
from server.feel.temporal import parser
from server.feel.temporal.formatter import written

MAX_LENGTH = 200
# The latest due time of a timer.
END_OF_TIME = datetime.max.replace(tzinfo=UTC)
UNENDING = -1
MAX_REPETITIONS = 2**31 - 1
# A shorter cycle would fire faster than its partition can handle.
SHORTEST_INTERVAL = timedelta(seconds=1)

_DURATION = re.compile(
    r"(?P<sign>[+-]?)P(?=.)(?:(?P<years>[+-]?\d+)Y)?(?:(?P<months>[+-]?\d+)M)?(?:(?P<weeks>[+-]?\d+)W)?"
    r"(?:(?P<days>[+-]?\d+)D)?(?:T(?=.)(?:(?P<hours>[+-]?\d+)H)?(?:(?P<minutes>[+-]?\d+)M)?"
    r"(?:(?P<seconds>[+-]?\d+(?:[.,]\d{0,9})?)S)?)?",
    re.ASCII | re.IGNORECASE,
)
_REPETITIONS = re.compile(r"R(\d*)", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MONTHS = 12


class MalformedTimer(ValueError):
    """The text is not a date, duration or cycle."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A number of calendar months, and a time after them."""

    months: int
    time: timedelta

    def after(self, instant: datetime) -> datetime:
        """The instant after the interval, on the last day of a month that is too short, and at most `END_OF_TIME`."""
        year, month = divmod(instant.year * _MONTHS + instant.month - 1 + self.months, _MONTHS)
        try:
            day = min(instant.day, calendar.monthrange(year, month + 1)[1])
            return instant.replace(year=year, month=month + 1, day=day) + self.time
        except (OverflowError, ValueError):
            is_past = self.months < 0 or self.time < timedelta()
            return _EPOCH if is_past else END_OF_TIME


@dataclass(frozen=True, slots=True)
class Cycle:
    """`repetitions` is the number of firings, `UNENDING` for no bound; `start` is the first one, if the cycle names it.

    `interval` is a text: a duration or a cron expression.
    """

    repetitions: int
    start: datetime | None
    interval: str

    def after(self, instant: datetime) -> datetime:
        """The next firing after the instant."""
        return interval(self.interval).after(instant)


def date(text: str) -> datetime:
    """The instant of an ISO 8601 date with an offset or zone; raises MalformedTimer."""
    _expect_short(text)
    try:
        return instant(parser.date_time(text))
    except ValueError as error:
        raise MalformedTimer(f"expected a date and time with an offset, found '{text}'") from error


def instant(value: DateTime) -> datetime:
    """The instant of a FEEL date and time; raises MalformedTimer for a local one."""
    if value.zone is None:
        raise MalformedTimer("expected a date and time with an offset, found a local one")
    try:
        return _EPOCH + timedelta(microseconds=value.in_utc // 1000)
    except OverflowError:
        return END_OF_TIME if value.in_utc > 0 else _EPOCH


def duration(text: str) -> Interval:
    """The interval of an ISO 8601 duration; raises MalformedTimer."""
    _expect_short(text)
    match = _DURATION.fullmatch(text)
    if match is None:
        raise MalformedTimer(f"expected a duration, found '{text}'")
    parts = {name: part.replace(",", ".") for name, part in match.groupdict(default="0").items()}
    sign = -1 if parts.pop("sign") == "-" else 1
    months = sign * (int(parts["years"]) * _MONTHS + int(parts["months"]))
    units = ("weeks", "days", "hours", "minutes", "seconds")
    try:
        return Interval(months, sign * timedelta(**{unit: float(parts[unit]) for unit in units}))
    except OverflowError as error:
        raise MalformedTimer(f"expected a shorter duration, found '{text}'") from error


def cycle(text: str) -> Cycle:
    """A parsed cycle; raises MalformedTimer."""
    _expect_short(text)
    if is_cron(text):
        interval(text)
        return Cycle(UNENDING, None, text)
    repetitions, *start, each = text.split("/") if "/" in text else ("", "")
    match = _REPETITIONS.fullmatch(repetitions)
    if match is None or len(start) > 1:
        raise MalformedTimer(f"expected a cycle such as R3/PT10S, found '{text}'")
    count = int(match[1]) if match[1] else UNENDING
    if not (count == UNENDING or 0 < count <= MAX_REPETITIONS):
        raise MalformedTimer(f"expected 1 to {MAX_REPETITIONS} repetitions, found {count}")
    if duration(each).after(_EPOCH) < _EPOCH + SHORTEST_INTERVAL:
        raise MalformedTimer(f"expected an interval of at least 1 s, found '{each}'")
    return Cycle(count, date(start[0]) if start and start[0] else None, each)


def interval(text: str) -> Interval | Cron:
    """The interval between two firings of a cycle; raises MalformedTimer."""
    if not is_cron(text):
        return duration(text)
    try:
        return cron(text)
    except MalformedCron as error:
        raise MalformedTimer(str(error)) from error


def date_of(value: feel.Value) -> datetime:
    """The instant of an expression's result; raises MalformedTimer."""
    return instant(value) if isinstance(value, DateTime) else date(text_of(value))


def text_of(value: feel.Value) -> str:
    """The ISO 8601 text of an expression's result, FEEL durations included; raises MalformedTimer."""
    if isinstance(value, feel.DaysDuration | feel.MonthsDuration):
        return written(value)
    if not isinstance(value, str):
        raise MalformedTimer("expected a text of ISO 8601, or a date and time or a duration of FEEL")
    return value.strip()


def _expect_short(text: str) -> None:
    if len(text) > MAX_LENGTH:
        raise MalformedTimer(f"expected at most {MAX_LENGTH} characters, found {len(text)}")
