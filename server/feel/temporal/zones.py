"""Offsets of time zones, and their local times.

Python's zones cover the years 2 to 9998. Later years use the rules of the year 400, 800, … years before,
whose calendar is the same; earlier years use those of the first year.
"""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from server.feel.temporal import calendar
from server.feel.temporal.values import DAY, SECOND, Date, DateTime, Time, Zone

_MAX_OFFSET: Final = 18 * 3_600
_OFFSET = re.compile(r"([+-])(\d\d):([0-5]\d)(?::([0-5]\d))?", re.ASCII)
_NAME = re.compile(r"[A-Za-z][\w+-]*(?:/[\w+-]+)*", re.ASCII)
_MAX_NAME_LENGTH: Final = 64
_CACHED_ZONES: Final = 1_024

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CYCLE: Final = calendar.DAYS_IN_CYCLE * 86_400
_FIRST: Final = calendar.epoch_day(2, 1, 1) * 86_400
_LAST: Final = calendar.epoch_day(9_998, 1, 1) * 86_400
_WITHOUT_DAYLIGHT_SAVING = datetime(2025, 1, 1)  # noqa: DTZ001 - a local time, to ask zones about


def zone_of(text: str) -> Zone:
    """Parse `Z`, `+02:00` or `Europe/Paris`; a named zone gets its standard offset, which a time needs."""
    if text == "Z":
        return Zone(0)
    match = _OFFSET.fullmatch(text)
    if match is None:
        return Zone(_standard_offset(text), text)
    hours, minutes, seconds = (int(part or 0) for part in match.groups()[1:])
    return fixed((-1 if match[1] == "-" else 1) * (hours * 3_600 + minutes * 60 + seconds))


def fixed(offset: int) -> Zone:
    if abs(offset) > _MAX_OFFSET:
        raise ValueError(f"no offset of {offset} seconds")
    return Zone(offset)


def placed(date: Date, time: Time, zone: Zone | None) -> DateTime:
    """Return the date-time with this local time in the zone.

    If the zone skips the local time, the result is after the gap; if the local time occurs twice, it is the
    first one.
    """
    if zone is None or zone.name is None:
        return DateTime(date, Time(time.nanoseconds, zone))
    local = date.epoch_day * DAY + time.nanoseconds
    return at(local - _offset_on(zone.name, local // SECOND) * SECOND, zone)


def at(instant: int, zone: Zone | None) -> DateTime:
    """Return the date-time of an instant in nanoseconds since 1970 in UTC."""
    if zone is not None and zone.name is not None:
        zone = Zone(_offset_at(zone.name, instant // SECOND), zone.name)
    day, nanoseconds = divmod(instant + (zone.offset * SECOND if zone else 0), DAY)
    return DateTime(Date.of_epoch_day(day), Time(nanoseconds, zone))


@lru_cache(_CACHED_ZONES)
def _zone(name: str) -> ZoneInfo:
    if len(name) > _MAX_NAME_LENGTH or _NAME.fullmatch(name) is None:
        raise ValueError(f"no zone '{name[:_MAX_NAME_LENGTH]}'")
    try:
        return ZoneInfo(name)
    except (KeyError, OSError) as error:
        raise ValueError(f"no zone '{name}'") from error


def _standard_offset(name: str) -> int:
    there = _WITHOUT_DAYLIGHT_SAVING.replace(tzinfo=_zone(name))
    return _seconds(there.utcoffset()) - _seconds(there.dst())


def _offset_on(name: str, local_seconds: int) -> int:
    there = (_EPOCH + timedelta(seconds=_within_reach(local_seconds))).replace(tzinfo=_zone(name))
    return _seconds(there.utcoffset())


def _offset_at(name: str, seconds: int) -> int:
    there = (_EPOCH + timedelta(seconds=_within_reach(seconds))).astimezone(_zone(name))
    return _seconds(there.utcoffset())


def _seconds(duration: timedelta | None) -> int:
    return 0 if duration is None else round(duration.total_seconds())


def _within_reach(seconds: int) -> int:
    if seconds > _LAST:
        return _LAST - _CYCLE + (seconds - _LAST) % _CYCLE
    return max(seconds, _FIRST)
