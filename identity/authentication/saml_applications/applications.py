"""Look-up of SAML applications."""

from identity.directory.client import Client
from identity.directory.tenants.saml_application import SAML_APPLICATIONS, SamlApplication
from identity.foundation.tenants import Tenant
from server.platform.records import RecordStore


class SamlApplications:
    """An application belongs to one tenant: clients of the default tenant are no applications of others."""

    def __init__(self, store: RecordStore) -> None:
        self._records = store.of(SAML_APPLICATIONS)

    async def find(self, tenant: Tenant, entity_id: str) -> SamlApplication | None:
        found = await self._records.find(tenant.tenant_id, "entity_id", entity_id, most=1)
        return found[0] if found else None

    async def of_client(self, tenant: Tenant, client: Client) -> SamlApplication | None:
        return await self._records.get(tenant.tenant_id, client.id)
