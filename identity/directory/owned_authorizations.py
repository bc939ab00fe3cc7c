"""Removal of the authorizations of a removed owner.

An authorization is written only while its owner exists, so none is written after the record of the owner is gone.
"""

from identity.directory.authorization import AUTHORIZATIONS, OwnerType, owner_text
from identity.directory.holdings import owner_of
from identity.directory.user import UserId
from identity.foundation.tenants import Tenant
from server.platform.records import Record, RecordStore


class OwnedAuthorizations:
    def __init__(self, store: RecordStore) -> None:
        self._records = store.of(AUTHORIZATIONS)

    async def remove_of(self, owner: Record) -> None:
        """Remove the authorizations of a client, role, group or mapping rule; raises Unavailable."""
        await self._records.remove(owner.tenant_id, "owner", owner_of(owner))

    async def remove_of_user(self, tenant: Tenant, user_id: UserId) -> None:
        """Raises Unavailable."""
        owner = owner_text(OwnerType.USER, user_id)
        await self._records.remove(tenant.tenant_id, "owner", owner)
