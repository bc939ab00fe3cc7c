"""Events of forms: versions were deployed and deleted.

As in `events`, each struct is in the past tense and can be understood alone.
"""

import msgspec

from server.engine.events import Event
from server.engine.keys import Key


class FormDeployed(Event, frozen=True):
    """A version of a form was deployed; `previous_key` is the version that was the latest before.

    `schema` is the whole file. The stored form of the event has `is_deleted` set after a deletion.
    """

    key: Key
    deployment_key: Key
    tenant_id: str
    form_id: str
    version: int
    previous_key: Key | None
    resource_name: str
    checksum: str
    schema: str
    version_tag: str | None = None
    is_deleted: bool = False

    @property
    def id(self) -> str:
        return self.form_id

    @property
    def known(self) -> "FormDeployed":
        """The form as partitions keep it, without its schema.

        Forms are many and may be large, so only the row in the store has the schema.
        """
        return msgspec.structs.replace(self, schema="")


class FormAdopted(Event, frozen=True):
    """A form that another partition deployed is now known in this one."""

    definition: FormDeployed


class FormDeleted(Event, frozen=True):
    """A form was deleted; user tasks keep their form.

    `latest_key` is the version that becomes the latest, if this one was.
    """

    definition: FormDeployed
    latest_key: Key | None
