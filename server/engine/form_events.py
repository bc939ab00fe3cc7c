"""Events of forms: versions were deployed and deleted.

Beside `events`, and like those: structs in the past tense that can be understood alone.
"""

import msgspec

from server.engine.events import Event
from server.engine.keys import Key


class FormDeployed(Event, frozen=True):
    """A version of a form; `previous_key` is the one that was the latest until now.

    `schema` is the whole file. As it is stored, `is_deleted` says what became of it.
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
        """The form as partitions keep it, without its schema: forms are many and may be large, so only their row has it."""
        return msgspec.structs.replace(self, schema="")


class FormAdopted(Event, frozen=True):
    """A form that another partition deployed is known here from now on."""

    definition: FormDeployed


class FormDeleted(Event, frozen=True):
    """User tasks keep the form that they have; `latest_key` is the version that takes its place, if it was the latest."""

    definition: FormDeployed
    latest_key: Key | None
