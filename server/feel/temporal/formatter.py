"""Formats temporal values as texts that `parser` accepts."""

from collections.abc import Callable, Mapping

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
    Zone,
)


def written(value: Temporal) -> str:
    return WRITERS[type(value)](value)


def written_date(date: Date) -> str:
    sign = "-" if date.year < 0 else ""
    return f"{sign}{abs(date.year):04}-{date.month:02}-{date.day:02}"


def written_time(time: Time) -> str:
    return _clock(time) + _zone(time.zone)


def written_date_time(value: DateTime) -> str:
    return f"{written_date(value.date)}T{written_time(value.time)}"


def with_offset(value: DateTime) -> str:
    """Format with an offset, because ISO 8601 has no zone names."""
    return f"{written_date(value.date)}T{_clock(value.time)}{_offset(value.zone) if value.zone else ''}"


def with_offset_and_region(value: DateTime) -> str:
    """Format as `2023-06-14T14:55:00+02:00[Europe/Berlin]`."""
    region = f"[{value.zone.name}]" if value.zone and value.zone.name else ""
    return with_offset(value) + region


def written_days_duration(duration: DaysDuration) -> str:
    if duration.nanoseconds == 0:
        return "P0D"
    amount = abs(duration.nanoseconds)
    days = f"{amount // DAY}D" if amount >= DAY else ""
    hours = f"{amount % DAY // HOUR}H" if amount % DAY >= HOUR else ""
    minutes = f"{amount % HOUR // MINUTE}M" if amount % HOUR >= MINUTE else ""
    seconds = f"{amount % MINUTE // SECOND}{_fraction(amount)}S" if amount % MINUTE else ""
    clock = f"{hours}{minutes}{seconds}"
    return f"{_sign(duration.nanoseconds)}P{days}{'T' if clock else ''}{clock}"


def written_months_duration(duration: MonthsDuration) -> str:
    if duration.months == 0:
        return "P0Y"
    years, months = divmod(abs(duration.months), 12)
    return f"{_sign(duration.months)}P{f'{years}Y' if years else ''}{f'{months}M' if months else ''}"


WRITERS: Mapping[type, Callable[..., str]] = {
    Date: written_date,
    Time: written_time,
    DateTime: written_date_time,
    DaysDuration: written_days_duration,
    MonthsDuration: written_months_duration,
}


def _clock(time: Time) -> str:
    return f"{time.hour:02}:{time.minute:02}:{time.second:02}{_fraction(time.nanoseconds)}"


def _fraction(nanoseconds: int) -> str:
    return f".{nanoseconds % SECOND:09}".rstrip("0") if nanoseconds % SECOND else ""


def _zone(zone: Zone | None) -> str:
    if zone is None:
        return ""
    return f"@{zone.name}" if zone.name else _offset(zone)


def _offset(zone: Zone) -> str:
    if zone.offset == 0:
        return "Z"
    minutes, seconds = divmod(abs(zone.offset), 60)
    return f"{_sign(zone.offset) or '+'}{minutes // 60:02}:{minutes % 60:02}" + (
        f":{seconds:02}" if seconds else ""
    )


def _sign(amount: int) -> str:
    return "-" if amount < 0 else ""
