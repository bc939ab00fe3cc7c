"""Storage of token sets; the end of a token set is announced to all nodes."""

from collections.abc import Sequence

from identity.access.tokens.token_set import TOKEN_SETS, TokenSet
from identity.directory.version import DirectoryVersion
from identity.foundation.tenants import Tenant
from server.platform.records import RecordStore

_MOST_OF_A_USER = 100_000


class TokenSets:
    def __init__(self, records: RecordStore, version: DirectoryVersion) -> None:
        self._sets = records.of(TOKEN_SETS)
        self._version = version

    async def find(self, tenant: Tenant, token_set_id: str) -> TokenSet | None:
        """Return the token set; None when it has ended, or its sign-in began before the tenant's `not_before`."""
        found = await self._sets.get(tenant.tenant_id, token_set_id)
        return None if found is None or found.authentication.is_refused(tenant.not_before) else found

    async def keep(self, token_set: TokenSet) -> TokenSet:
        """Store a new token set."""
        return await self._sets.insert(token_set)

    async def renew(self, token_set: TokenSet) -> TokenSet:
        """Store a changed token set; raises Changed when it was changed since it was read."""
        return await self._sets.replace(token_set)

    async def remove(self, tenant: Tenant, token_set_id: str) -> None:
        if await self._sets.take(tenant.tenant_id, token_set_id) is not None:
            await self._version.advance(token_set_id)

    async def remove_of_session(self, tenant: Tenant, sid: str) -> None:
        """Revoke token sets of a session; those with offline access and of devices are not among them."""
        await self._remove(tenant, "sid", sid)

    async def remove_of_user(self, tenant: Tenant, user_id: str) -> None:
        await self._remove(tenant, "user_id", user_id)

    async def remove_of_client_of_user(self, tenant: Tenant, client_id: str, *, user_id: str) -> None:
        """Revoke the token sets that a client has for a user."""
        found = await self._sets.find(tenant.tenant_id, "user_id", user_id, most=_MOST_OF_A_USER)
        removed = [token_set.id for token_set in found if token_set.client_id == client_id]
        for token_set_id in removed:
            await self._sets.take(tenant.tenant_id, token_set_id)
        if removed:
            await self._version.advance(*removed)

    async def of_device(self, tenant: Tenant, device_id: str) -> Sequence[TokenSet]:
        return await self._sets.find(tenant.tenant_id, "device_id", device_id)

    async def remove_of_device(self, tenant: Tenant, device_id: str) -> None:
        await self._remove(tenant, "device_id", device_id)

    async def _remove(self, tenant: Tenant, field: str, text: str) -> None:
        if await self._sets.remove(tenant.tenant_id, field, text):
            await self._version.advance(text)
