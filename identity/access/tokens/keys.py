"""Source of signing keys."""

from typing import Protocol

from identity.crypto.jose.key_set import KeySet
from server.platform.call import TenantId


class KeyRing(Protocol):
    async def key_set(self, tenant_id: TenantId, /) -> KeySet:
        """Return every published key of a tenant; the first one of an algorithm signs."""
        ...
