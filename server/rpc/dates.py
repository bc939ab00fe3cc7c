"""Converts dates of user tasks from requests: RFC 3339, an empty text clears the date."""

from datetime import UTC, datetime

from server.bpmn import timer_values
from server.bpmn.timer_values import MalformedTimer
from server.engine.user_task_changes import DateChange
from server.platform.errors import InvalidArgument


def date_change(text: str, field: str) -> DateChange:
    """The change of a date; raises InvalidArgument with the name of the field."""
    try:
        return DateChange(timer_values.date(text) if text else None)
    except MalformedTimer as error:
        raise InvalidArgument(f"{field}: {error}", field=field) from error


def rfc_3339(date: datetime) -> str:
    return date.astimezone(UTC).isoformat().replace("+00:00", "Z")
