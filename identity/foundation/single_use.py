"""Single-use identifiers, such as the `jti` of an assertion or a proof."""

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from identity.foundation.tenants import Tenant
from server.platform.records import AlreadyThere, Kind, Record, RecordStore


@dataclass(frozen=True, slots=True, kw_only=True)
class SpentId(Record):
    """`id` is a hash of the identifier and its purpose; kept until the identifier would be refused anyway."""


SPENT_IDS = Kind(SpentId, "spent_id", owners=())


class SingleUse:
    def __init__(self, records: RecordStore) -> None:
        self._spent = records.of(SPENT_IDS)

    async def spend(self, tenant: Tenant, purpose: str, identifier: str, *, until: datetime) -> bool:
        """Use an identifier up; False when it was used before."""
        spent_id = sha256(f"{purpose} {identifier}".encode()).hexdigest()
        try:
            await self._spent.insert(SpentId(tenant_id=tenant.tenant_id, id=spent_id, expires_at=until))
        except AlreadyThere:
            return False
        return True
