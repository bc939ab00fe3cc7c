"""Look-up of clients, as seen by the provider of a tenant."""

from identity.directory.client import CLIENTS, Client
from identity.foundation.tenants import Tenant, Tenants
from server.platform.records import RecordStore


class Clients:
    def __init__(self, records: RecordStore, tenants: Tenants) -> None:
        self._clients = records.of(CLIENTS)
        self._tenants = tenants

    async def find(self, tenant: Tenant, client_id: str) -> Client | None:
        """Return the tenant's client, else the default tenant's client if it serves this tenant; it may be disabled."""
        client = await self._clients.get(tenant.tenant_id, client_id)
        default = self._tenants.default
        if client is None and tenant != default:
            client = await self._clients.get(default.tenant_id, client_id)
        return client if client and client.is_known_at(tenant, default=default) else None
