"""Events of cluster variables: values were set and deleted.

As in `events`, each struct is in the past tense and can be understood alone.
"""

from server.engine.events import Event
from server.engine.keys import Key


class ClusterVariableSet(Event, frozen=True):
    """A variable was set to a JSON text, for one tenant or, without a tenant, for all of them.

    The revision counts the values of the variable, from one. The stored form of the event is the variable
    itself.
    """

    key: Key
    tenant_id: str | None
    name: str
    value: str
    revision: int = 1

    @property
    def version(self) -> tuple[Key, int]:
        """Rises with each value of the name, even when the variable is deleted and created again."""
        return self.key, self.revision


class ClusterVariableAdopted(Event, frozen=True):
    """A value that another partition set is now known in this one."""

    variable: ClusterVariableSet


class ClusterVariableDeleted(Event, frozen=True):
    """The variable was deleted; the event has its last value."""

    variable: ClusterVariableSet


class ClusterVariableDeletionAdopted(Event, frozen=True):
    """A variable that another partition deleted is now deleted in this one."""

    variable: ClusterVariableSet
