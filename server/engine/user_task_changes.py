"""Changes to a user task: what it has, what a listener corrects, and what is being done with it."""

from dataclasses import dataclass
from datetime import datetime

import msgspec

from server.engine.job_kinds import ListenerEventType
from server.engine.keys import Key
from server.engine.requesters import Requester


@dataclass(frozen=True, slots=True)
class DateChange:
    """The date from now on; None clears it."""

    date: datetime | None


class Corrections(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Changes of a task listener to its user task; None leaves a value as it is, an empty assignee unassigns the task."""

    assignee: str | None = None
    candidate_groups: tuple[str, ...] | None = None
    candidate_users: tuple[str, ...] | None = None
    due_date: DateChange | None = None
    follow_up_date: DateChange | None = None
    priority: int | None = None


class UserTaskValues(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Values of a user task that commands and listeners change; an empty text is no assignee."""

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
        """Names of the values that are not the same."""
        return tuple(name for name in VALUES if getattr(self, name) != getattr(other, name))


VALUES = UserTaskValues.__struct_fields__


class GlobalListener(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A global task listener as a transition asks it, whatever becomes of it meanwhile."""

    type: str
    retries: int
    after_non_global: bool = False


class UserTaskTransition(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A transition of a user task that waits for its listeners, with the values that the task will have.

    `listened` counts the listeners of the model that are done, `globally_listened` those of the `global_listeners`, which
    are the ones of the tenant when the transition began, in their order. `corrected` are the names of the values that
    listeners changed. `variables` are those that come with a completion, or are to be set; `is_local` says that they
    become ones of the user task.
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
