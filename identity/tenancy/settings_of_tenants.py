"""Reads the present settings of a tenant."""

from identity.tenancy.settings import TenantSettings
from identity.tenancy.tenant_record import DEPLOYMENT, TenantRecord
from identity.tenants import Tenant
from server.platform.records import Records


class SettingsOfTenants:
    def __init__(self, records: Records[TenantRecord]) -> None:
        self._records = records

    async def of(self, tenant: Tenant) -> TenantSettings:
        record = await self._records.get(DEPLOYMENT, tenant.tenant_id)
        return TenantSettings() if record is None else record.settings
