"""Events of generic resources: versions were deployed and deleted.

Like those of forms: structs in the past tense that can be understood alone.
"""

import msgspec

from server.engine.events import Event
from server.engine.keys import Key


class GenericResourceDeployed(Event, frozen=True):
    """A version of a generic resource; `previous_key` is the one that was the latest until now.

    As it is stored, `is_deleted` says what became of it.
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
        """The resource as partitions keep it, without its content, which only its row has."""
        return msgspec.structs.replace(self, content="")


class GenericResourceAdopted(Event, frozen=True):
    """A generic resource that another partition deployed is known here from now on."""

    definition: GenericResourceDeployed


class GenericResourceDeleted(Event, frozen=True):
    """Jobs keep the key that they have; `latest_key` is the version that takes its place, if it was the latest."""

    definition: GenericResourceDeployed
    latest_key: Key | None
