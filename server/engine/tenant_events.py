"""Events of the removal of a tenant from one partition."""

from server.engine.events import Event
from server.engine.keys import Key
from server.engine.pages import DocumentId


class TenantMarked(Event, frozen=True):
    """The partition refuses all commands of the tenant; `number` identifies its removal."""

    tenant_id: str
    number: int


class TenantPurged(Event, frozen=True):
    """Documents and definitions of a marked tenant are gone.

    `process_instances` are those among the documents. `subjects` are the keys of everything that time could trigger.
    """

    tenant_id: str
    documents: tuple[DocumentId, ...]
    definitions: tuple[Key, ...]
    process_instances: tuple[Key, ...]
    subjects: tuple[Key, ...]


class TenantReleased(Event, frozen=True):
    """The partition accepts commands of a new tenant with this id."""

    tenant_id: str
