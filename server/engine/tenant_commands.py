"""Commands that remove the share of a tenant from one partition; only the partition itself sends them."""

from dataclasses import dataclass

from server.engine.addresses import HERE, Address
from server.engine.keys import Key
from server.engine.pages import DocumentId


@dataclass(frozen=True, slots=True)
class MarkTenant:
    """Refuse all commands of a tenant from now on; `number` identifies its removal."""

    tenant_id: str
    number: int

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class PurgeTenant:
    """Remove these documents and definitions of a marked tenant, without any other effect."""

    tenant_id: str
    documents: tuple[DocumentId, ...] = ()
    definitions: tuple[Key, ...] = ()

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class ReleaseTenant:
    """Accept commands of a new tenant with this id again."""

    tenant_id: str

    @property
    def address(self) -> Address:
        return HERE
