"""Changes to a user task: its values, corrections of listeners, and transitions."""

from dataclasses import dataclass
from datetime import datetime

import msgspec

from server.engine.job_kinds import ListenerEventType
from server.engine.keys import Key
from server.engine.requesters import Requester


@dataclass(frozen=True, slots=True)
class DateChange:
    """A new date; None clears it."""

    date: datetime | None


class Corrections(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Corrections of a task listener; None leaves a value as it is, an empty assignee unassigns the task."""

    assignee: str | None = None
    candidate_groups: tuple[str, ...] | None = None
    candidate_users: tuple[str, ...] | None = None
    due_date: DateChange | None = None
    follow_up_date: DateChange | None = None
    priority: int | None = None


class UserTaskValues(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Values of a user task that commands and listeners change; an empty assignee means unassigned."""

    assignee: str = ""
    candidate_groups: tuple[str, ...] = ()
    candidate_users: tuple[str, ...] = ()
    due_date: datetime | None = None
    follow_up_date: datetime | None = None
    priority: int = 50

    def corrected(self, corrections: Corrections) -> "UserTaskValues":
        changes: dict[str, object] = {}
        for name in VALUES:
            change = getattr(corrections, name)
            if change is not None:
                changes[name] = change.date if isinstance(change, DateChange) else change
        return msgspec.structs.replace(self, **changes)

    def differences(self, other: "UserTaskValues") -> tuple[str, ...]:
        """Names of the values that differ."""
        return tuple(name for name in VALUES if getattr(self, name) != getattr(other, name))


VALUES = UserTaskValues.__struct_fields__


class GlobalListener(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A copy of a global task listener for a transition, unaffected by later changes of the listener."""

    type: str
    retries: int
    after_non_global: bool = False


class UserTaskTransition(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A transition of a user task that waits for its listeners, with the values that the task will have.

    `listened` counts the finished listeners of the model, `globally_listened` those of `global_listeners`:
    the tenant's listeners when the transition began, in order. `corrected` are the names of the values that
    listeners changed. `variables` are set at the end of the transition; `is_local` sets them at the user
    task.
    """

    key: Key
    event_type: ListenerEventType
    action: str
    values: UserTaskValues
    variables: dict[str, str] | None = None
    is_local: bool = False
    requester: Requester | None = None
    listened: int = 0
    corrected: tuple[str, ...] = ()
    global_listeners: tuple[GlobalListener, ...] = ()
    globally_listened: int = 0
