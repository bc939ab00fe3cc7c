"""The costliest hash that a tenant imported: wrong passwords cost as much for every other account, and for none.

Otherwise the duration of a refusal would reveal which addresses have an account with an imported hash.
"""

from collections.abc import Iterable
from dataclasses import replace

from identity.directory.password_hashes.foreign_hash import cost_of, decoy_of
from identity.directory.tenants.tenant_record import DEPLOYMENT, TENANTS
from server.platform.call import TenantId
from server.platform.records import Changed, RecordStore


class CostliestHashes:
    def __init__(self, records: RecordStore) -> None:
        self._tenants = records.of(TENANTS)

    async def of(self, tenant_id: TenantId) -> str:
        """Return a hash with the parameters of the costliest one, empty where none was imported."""
        tenant = await self._tenants.get(DEPLOYMENT, tenant_id)
        return "" if tenant is None else tenant.costliest_hash

    async def note(self, tenant_id: TenantId, hashes: Iterable[str]) -> None:
        """Remember the parameters of the costliest of these hashes, unless a costlier one is known."""
        costliest = max(hashes, key=cost_of, default="")
        while tenant := await self._tenants.get(DEPLOYMENT, tenant_id):
            if cost_of(tenant.costliest_hash) >= cost_of(costliest):
                return
            try:
                await self._tenants.replace(replace(tenant, costliest_hash=decoy_of(costliest)))
            except Changed:
                continue
            return
