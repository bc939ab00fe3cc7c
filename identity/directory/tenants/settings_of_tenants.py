"""Reads the present settings of a tenant."""

from identity.directory.tenants.settings import TenantSettings
from identity.directory.tenants.tenant_record import DEPLOYMENT, TenantRecord
from identity.foundation.tenants import Tenant
from server.platform.records import Records


class SettingsOfTenants:
    def __init__(self, records: Records[TenantRecord]) -> None:
        self._records = records

    async def of(self, tenant: Tenant) -> TenantSettings:
        record = await self._records.get(DEPLOYMENT, tenant.tenant_id)
        return TenantSettings() if record is None else record.settings
