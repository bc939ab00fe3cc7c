"""Events of cluster variables: values were set and deleted.

Beside `events`, and like those: structs in the past tense that can be understood alone.
"""

from server.engine.events import Event
from server.engine.keys import Key


class ClusterVariableSet(Event, frozen=True):
    """A variable of a tenant, or of all of them without a tenant, is this JSON text from now on.

    The revision counts the values of the variable, from one. As it is stored, this is the variable itself.
    """

    key: Key
    tenant_id: str | None
    name: str
    value: str
    revision: int = 1

    @property
    def version(self) -> tuple[Key, int]:
        """Rises with each value of the name, also when the variable is deleted and created again."""
        return self.key, self.revision


class ClusterVariableAdopted(Event, frozen=True):
    """A value that another partition has set is known here from now on."""

    variable: ClusterVariableSet


class ClusterVariableDeleted(Event, frozen=True):
    """The variable, with its last value, is no more."""

    variable: ClusterVariableSet


class ClusterVariableDeletionAdopted(Event, frozen=True):
    """A variable that another partition deleted is no more here."""

    variable: ClusterVariableSet
