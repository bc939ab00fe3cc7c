"""Events of global task listeners: they were set and deleted.

Beside `events`, and like those: structs in the past tense that can be understood alone.
"""

from server.engine.events import Event
from server.engine.keys import Key


class GlobalTaskListenerSet(Event, frozen=True):
    """A tenant has this listener from now on, in the place of the one that had the id.

    `event_types` are spelled as in models; `all` stands for every one. The revision counts the changes of the listener,
    from one. As it is stored, this is the listener itself.
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
        """Rises with each change, also when the listener is deleted and created again."""
        return self.key, self.revision


class GlobalTaskListenerAdopted(Event, frozen=True):
    """A listener that another partition has set is known here from now on."""

    listener: GlobalTaskListenerSet


class GlobalTaskListenerDeleted(Event, frozen=True):
    """The listener, as it was last, is no more."""

    listener: GlobalTaskListenerSet


class GlobalTaskListenerDeletionAdopted(Event, frozen=True):
    """A listener that another partition deleted is no more here."""

    listener: GlobalTaskListenerSet
