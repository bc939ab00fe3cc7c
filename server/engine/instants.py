"""Calculation with instants, bounded by the latest one."""

from datetime import UTC, datetime, timedelta

LAST_INSTANT = datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)
"""The latest instant that a clock can be pinned to."""


def later(instant: datetime, by: timedelta) -> datetime:
    """Return the instant `by` after another, at most `LAST_INSTANT`."""
    return LAST_INSTANT if by >= LAST_INSTANT - instant else instant + by
