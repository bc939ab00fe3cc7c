"""The proleptic Gregorian calendar, with days counted from 1970-01-01."""

from typing import Final

DAYS_IN_CYCLE: Final = 146_097
"""Days in 400 years, after which the calendar repeats."""

MONTHS_IN_YEAR: Final = 12
_DAYS_IN_MONTH: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_FEBRUARY: Final = 2
_THURSDAY: Final = 4
_DAYS_IN_WEEK: Final = 7
_EPOCH_FROM_MARCH_OF_YEAR_0: Final = 719_468


def is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def days_in_month(year: int, month: int) -> int:
    return 29 if month == _FEBRUARY and is_leap(year) else _DAYS_IN_MONTH[month - 1]


def epoch_day(year: int, month: int, day: int) -> int:
    """Return the day number; years count from March, so that a leap day is the last day of its year."""
    year -= month <= _FEBRUARY
    cycle, year_of_cycle = divmod(year, 400)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    day_of_cycle = year_of_cycle * 365 + year_of_cycle // 4 - year_of_cycle // 100 + day_of_year
    return cycle * DAYS_IN_CYCLE + day_of_cycle - _EPOCH_FROM_MARCH_OF_YEAR_0


def civil(epoch_day: int) -> tuple[int, int, int]:
    """Return year, month and day; the inverse of `epoch_day`."""
    cycle, day_of_cycle = divmod(epoch_day + _EPOCH_FROM_MARCH_OF_YEAR_0, DAYS_IN_CYCLE)
    year_of_cycle = (
        day_of_cycle - day_of_cycle // 1_460 + day_of_cycle // 36_524 - day_of_cycle // 146_096
    ) // 365
    day_of_year = day_of_cycle - (365 * year_of_cycle + year_of_cycle // 4 - year_of_cycle // 100)
    month_from_march = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month_from_march + 2) // 5 + 1
    month = (month_from_march + 2) % 12 + 1
    return year_of_cycle + cycle * 400 + (month <= _FEBRUARY), month, day


def weekday(epoch_day: int) -> int:
    """Return the ISO 8601 weekday: Monday is 1, Sunday is 7."""
    return (epoch_day + _THURSDAY - 1) % _DAYS_IN_WEEK + 1


def day_of_year(year: int, month: int, day: int) -> int:
    return epoch_day(year, month, day) - epoch_day(year, 1, 1) + 1


def week_of_year(year: int, month: int, day: int) -> int:
    """Return the ISO 8601 week, which belongs to the year of its Thursday."""
    today = epoch_day(year, month, day)
    thursday = today - weekday(today) + _THURSDAY
    return (thursday - epoch_day(civil(thursday)[0], 1, 1)) // _DAYS_IN_WEEK + 1
