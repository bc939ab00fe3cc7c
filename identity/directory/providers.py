"""The upstream providers of a tenant."""

from collections.abc import Sequence

from identity.directory.provider import PROVIDERS, Provider
from identity.foundation.tenants import Tenant
from server.platform.records import RecordStore

MOST = 100
"""Maximum in a tenant, so that all of them fit into one page."""


class Providers:
    def __init__(self, store: RecordStore) -> None:
        self._records = store.of(PROVIDERS)

    async def all(self, tenant: Tenant) -> Sequence[Provider]:
        """Return all providers by id."""
        return await self._records.page(tenant.tenant_id, most=MOST)

    async def find(self, tenant: Tenant, provider_id: str) -> Provider | None:
        """Return a provider; it may be disabled."""
        return await self._records.get(tenant.tenant_id, provider_id)

    async def offered(self, tenant: Tenant) -> Sequence[Provider]:
        """Return the providers that users can sign in through, by name."""
        offered = [provider for provider in await self.all(tenant) if provider.signs_people_in]
        return sorted(offered, key=lambda provider: (provider.fields.name, provider.id))
