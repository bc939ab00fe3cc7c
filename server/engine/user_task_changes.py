"""Changes to a user task; what is absent stays as it is."""

from dataclasses import dataclass
from datetime import datetime

import msgspec


@dataclass(frozen=True, slots=True)
class DateChange:
    """The date from now on; None clears it."""

    date: datetime | None


class Corrections(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What a task listener changes about its user task; an empty assignee unassigns it."""

    assignee: str | None = None
    candidate_groups: tuple[str, ...] | None = None
    candidate_users: tuple[str, ...] | None = None
    due_date: DateChange | None = None
    follow_up_date: DateChange | None = None
    priority: int | None = None
