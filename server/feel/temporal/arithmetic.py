"""Sums, differences and products of temporal values (DMN 1.5 §10.3.2.5, tables 55 and 56).

Raises ValueError or ArithmeticError if there is no result.
"""

from typing import Final

from server.feel import decimals
from server.feel.decimals import Number
from server.feel.temporal import calendar, zones
from server.feel.temporal.values import DAY, Date, DateTime, DaysDuration, MonthsDuration, Time, Zone

_MAX_FACTOR: Final = 10**34


def date_plus_days(date: Date, duration: DaysDuration) -> Date:
    """Add a duration to the date's midnight; the remainder of a day is dropped."""
    return Date.of_epoch_day(date.epoch_day + duration.nanoseconds // DAY)


def date_plus_months(date: Date, duration: MonthsDuration) -> Date:
    """Add months; if the month is too short, the result is its last day."""
    year, month = divmod(date.year * 12 + date.month - 1 + duration.months, 12)
    return Date(year, month + 1, min(date.day, calendar.days_in_month(year, month + 1)))


def date_minus_date(left: Date, right: Date) -> DaysDuration:
    return DaysDuration((left.epoch_day - right.epoch_day) * DAY)


def date_time_plus_days(value: DateTime, duration: DaysDuration) -> DateTime:
    return zones.at(value.in_utc + duration.nanoseconds, value.zone)


def date_time_plus_months(value: DateTime, duration: MonthsDuration) -> DateTime:
    return zones.placed(date_plus_months(value.date, duration), value.time, value.zone)


def date_time_minus_date_time(left: DateTime, right: DateTime) -> DaysDuration:
    if (left.zone is None) is not (right.zone is None):
        raise ValueError("one date-time is local, the other is not")
    return DaysDuration(left.in_utc - right.in_utc)


def time_plus_days(time: Time, duration: DaysDuration) -> Time:
    return Time((time.nanoseconds + duration.nanoseconds) % DAY, time.zone)


def time_minus_time(left: Time, right: Time) -> DaysDuration:
    if (left.zone is None) is not (right.zone is None):
        raise ValueError("one time is local, the other is not")
    return DaysDuration(left.in_utc - right.in_utc)


def time_between(left: Time, right: Time) -> DaysDuration:
    """Return the difference of two local times, or the distance of two times with zones."""
    difference = time_minus_time(left, right)
    return difference if left.zone is None else DaysDuration(abs(difference.nanoseconds))


def negated_days(duration: DaysDuration) -> DaysDuration:
    return DaysDuration(-duration.nanoseconds)


def negated_months(duration: MonthsDuration) -> MonthsDuration:
    return MonthsDuration(-duration.months)


def days_plus_days(left: DaysDuration, right: DaysDuration) -> DaysDuration:
    return DaysDuration(left.nanoseconds + right.nanoseconds)


def months_plus_months(left: MonthsDuration, right: MonthsDuration) -> MonthsDuration:
    return MonthsDuration(left.months + right.months)


def days_times(duration: DaysDuration, factor: Number) -> DaysDuration:
    return DaysDuration(_whole(decimals.multiply(duration.nanoseconds, factor)))


def months_times(duration: MonthsDuration, factor: Number) -> MonthsDuration:
    return MonthsDuration(_whole(decimals.multiply(duration.months, factor)))


def days_by(duration: DaysDuration, divisor: Number) -> DaysDuration:
    return DaysDuration(_whole(decimals.divide(duration.nanoseconds, divisor)))


def months_by(duration: MonthsDuration, divisor: Number) -> MonthsDuration:
    return MonthsDuration(_whole(decimals.divide(duration.months, divisor)))


def days_by_days(left: DaysDuration, right: DaysDuration) -> Number:
    return decimals.divide(left.nanoseconds, right.nanoseconds)


def months_by_months(left: MonthsDuration, right: MonthsDuration) -> Number:
    return decimals.divide(left.months, right.months)


def months_between(start: Date, end: Date) -> MonthsDuration:
    """Count whole months in either direction; an incomplete month does not count."""
    months = (end.year - start.year) * 12 + end.month - start.month
    if months > 0 and end.day < start.day:
        months -= 1
    if months < 0 and end.day > start.day:
        months += 1
    return MonthsDuration(months)


def _whole(number: Number) -> int:
    return decimals.truncated(number, _MAX_FACTOR)


def days_times_whole(duration: DaysDuration, factor: Number) -> DaysDuration:
    return DaysDuration(duration.nanoseconds * _whole(factor))


def months_times_whole(duration: MonthsDuration, factor: Number) -> MonthsDuration:
    return MonthsDuration(duration.months * _whole(factor))


def whole_days_by_days(left: DaysDuration, right: DaysDuration) -> int:
    return _whole(days_by_days(left, right))


def whole_months_by_months(left: MonthsDuration, right: MonthsDuration) -> int:
    return _whole(months_by_months(left, right))


def date_minus_date_time(left: Date, right: DateTime) -> DaysDuration:
    return date_time_minus_date_time(_midnight(left), right)


def date_time_minus_date(left: DateTime, right: Date) -> DaysDuration:
    return date_time_minus_date_time(left, _midnight(right))


def _midnight(date: Date) -> DateTime:
    """Return the midnight of a date in UTC (DMN 1.5 §10.3.2.9.4)."""
    return DateTime(date, Time(0, Zone(0)))
