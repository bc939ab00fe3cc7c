"""Events of generic resources: versions were deployed and deleted.

As in `events`, each struct is in the past tense and can be understood alone.
"""

import msgspec

from server.engine.events import Event
from server.engine.keys import Key


class GenericResourceDeployed(Event, frozen=True):
    """A version of a generic resource was deployed; `previous_key` is the version that was the latest before.

    The stored form of the event has `is_deleted` set after a deletion.
    """

    key: Key
    deployment_key: Key
    tenant_id: str
    resource_id: str
    version: int
    previous_key: Key | None
    resource_name: str
    checksum: str
    content: str
    version_tag: str | None = None
    is_deleted: bool = False

    @property
    def id(self) -> str:
        return self.resource_id

    @property
    def known(self) -> "GenericResourceDeployed":
        """The resource as partitions keep it, without its content, which only the row in the store has."""
        return msgspec.structs.replace(self, content="")


class GenericResourceAdopted(Event, frozen=True):
    """A generic resource that another partition deployed is now known in this one."""

    definition: GenericResourceDeployed


class GenericResourceDeleted(Event, frozen=True):
    """A generic resource was deleted; jobs keep its key.

    `latest_key` is the version that becomes the latest, if this one was.
    """

    definition: GenericResourceDeployed
    latest_key: Key | None
