"""Where signing keys come from."""

from typing import Protocol

from identity.jose.key_set import KeySet
from server.platform.call import TenantId


class KeyRing(Protocol):
    async def key_set(self, tenant_id: TenantId, /) -> KeySet:
        """Every published key of a tenant; of several keys of an algorithm the first one signs."""
        ...
