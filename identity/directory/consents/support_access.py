"""Permissions of users that support may sign in as them; each ends by itself."""

from dataclasses import dataclass, replace
from datetime import datetime

from identity.directory.user import UserId
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import Unavailable
from server.platform.records import AlreadyThere, Changed, Kind, Owner, Record, RecordStore

_ATTEMPTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportAccess(Record):
    """`id` is the user's; the permission ends at `until`."""

    granted_at: datetime
    until: datetime


SUPPORT_ACCESSES = Kind(SupportAccess, "support_access", owners=(Owner("user"),))


class SupportAccesses:
    def __init__(self, store: RecordStore, clock: Clock) -> None:
        self._records = store.of(SUPPORT_ACCESSES)
        self._clock = clock

    async def find(self, tenant: Tenant, user_id: UserId) -> SupportAccess | None:
        """Return the permission of a user; None when there is none, or when it has ended."""
        found = await self._records.get(tenant.tenant_id, user_id)
        return found if found is not None and self._clock.now() < found.until else None

    async def allow(self, tenant: Tenant, user_id: UserId, until: datetime) -> SupportAccess:
        """Store the permission, in place of an earlier one."""
        for _ in range(_ATTEMPTS):
            before = await self._records.get(tenant.tenant_id, user_id)
            given = SupportAccess(
                tenant_id=tenant.tenant_id,
                id=user_id,
                expires_at=until,
                granted_at=self._clock.now(),
                until=until,
            )
            try:
                if before is None:
                    return await self._records.insert(given)
                return await self._records.replace(
                    replace(before, expires_at=until, granted_at=given.granted_at, until=until)
                )
            except (AlreadyThere, Changed):
                continue
        raise Unavailable.untouched("too many requests change the permission at the same time")

    async def take(self, tenant: Tenant, user_id: UserId) -> SupportAccess | None:
        """Remove and return the permission; None when there was none."""
        return await self._records.take(tenant.tenant_id, user_id)
