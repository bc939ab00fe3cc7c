"""Clients of relying parties, which administrators may change."""

from dataclasses import dataclass

from identity.access.administrators import Administrators
from identity.access.callers import Actor
from identity.directory.client import Client
from identity.directory.own_clients import OWN_CLIENT_IDS
from identity.foundation.tenants import Tenant
from server.platform.errors import InvalidState, NotFound
from server.platform.records import Records


@dataclass(frozen=True, slots=True)
class RelyingParties:
    """API keys cannot change the settings of a client that administers."""

    clients: Records[Client]
    administrators: Administrators

    async def changeable(self, tenant: Tenant, client_id: str, actor: Actor) -> Client:
        """Raises NotFound, PermissionDenied, and InvalidState for a client of the provider."""
        client = await self.clients.get(tenant.tenant_id, client_id)
        if client is None:
            raise NotFound("there is no such client")
        await self.administrators.expect_may_change(client, actor)
        if client.id in OWN_CLIENT_IDS:
            raise InvalidState("the client belongs to the provider and cannot be changed")
        return client
