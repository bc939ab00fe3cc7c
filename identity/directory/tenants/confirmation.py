"""Reads from a tenant's settings whether self-registered users must confirm their address."""

from identity.directory.tenants.tenant_record import DEPLOYMENT, TenantRecord
from identity.foundation.tenants import Tenant
from server.platform.records import Records


class ConfirmationBySettings:
    def __init__(self, records: Records[TenantRecord]) -> None:
        self._records = records

    async def requires_email_confirmation(self, tenant: Tenant) -> bool:
        record = await self._records.get(DEPLOYMENT, tenant.tenant_id)
        return record is None or record.settings.requires_email_confirmation
