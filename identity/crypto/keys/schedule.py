"""A schedule as a cron expression in UTC."""

from datetime import datetime

from croniter import CroniterBadDateError, croniter  # type: ignore[import-untyped]  # it has no types of its own


class Schedule:
    """Seven fields with seconds first and years last, six without years, or five without either.

    Raises ValueError for an invalid expression.
    """

    def __init__(self, expression: str) -> None:
        if not croniter.is_valid(expression, second_at_beginning=True):
            raise ValueError(f"expected a cron expression of 5, 6 or 7 fields, found {expression!r}")
        self._expression = expression

    def next_after(self, instant: datetime) -> datetime | None:
        """Return the first run after the instant; None when there is none."""
        try:
            times = croniter(self._expression, instant, second_at_beginning=True)
            found: datetime = times.get_next(datetime)
        except CroniterBadDateError:
            return None
        return found
