"""Events of global task listeners: they were set and deleted.

As in `events`, each struct is in the past tense and can be understood alone.
"""

from server.engine.events import Event
from server.engine.keys import Key


class GlobalTaskListenerSet(Event, frozen=True):
    """A global task listener of a tenant was created, or replaced the one with its id.

    `event_types` are spelled as in models; `all` stands for every one. The revision counts the changes of the
    listener, from one. The stored form of the event is the listener itself.
    """

    key: Key
    tenant_id: str
    id: str
    type: str
    event_types: tuple[str, ...]
    retries: int
    after_non_global: bool
    priority: int
    revision: int = 1

    @property
    def version(self) -> tuple[Key, int]:
        """Rises with each change, even when the listener is deleted and created again."""
        return self.key, self.revision


class GlobalTaskListenerAdopted(Event, frozen=True):
    """A listener that another partition set is now known in this one."""

    listener: GlobalTaskListenerSet


class GlobalTaskListenerDeleted(Event, frozen=True):
    """The listener was deleted; the event has its last values."""

    listener: GlobalTaskListenerSet


class GlobalTaskListenerDeletionAdopted(Event, frozen=True):
    """A listener that another partition deleted is now deleted in this one."""

    listener: GlobalTaskListenerSet
