"""Stores users' generators and recovery codes under optimistic locking."""

from collections.abc import Callable

from identity.authentication.one_time_codes.factors import CODE_FACTORS, CodeFactors
from identity.directory.user import UserId
from identity.foundation.tenants import Tenant
from server.platform.errors import Unavailable
from server.platform.records import AlreadyThere, Changed, RecordStore

_ATTEMPTS = 20


class CodeFactorRecords:
    def __init__(self, store: RecordStore) -> None:
        self._records = store.of(CODE_FACTORS)

    async def of(self, tenant: Tenant, user_id: UserId) -> CodeFactors:
        """Return the record of a user, or an empty one."""
        found = await self._records.get(tenant.tenant_id, user_id)
        return found or CodeFactors(tenant_id=tenant.tenant_id, id=user_id)

    async def change(
        self, tenant: Tenant, user_id: UserId, changed: Callable[[CodeFactors], CodeFactors]
    ) -> CodeFactors:
        """Replace the record by the result of `changed`, whose errors change nothing. Raises Unavailable."""
        for _ in range(_ATTEMPTS):
            before = await self.of(tenant, user_id)
            after = changed(before)
            if after is before:
                return before
            try:
                return await (self._records.replace if before.revision else self._records.insert)(after)
            except (AlreadyThere, Changed):
                continue
        raise Unavailable.untouched("too many requests use the codes at the same time")

    async def without_passkeys(self, tenant: Tenant, user_id: UserId) -> None:
        """Remove recovery codes of a user without other factors, so that they cannot be used later."""
        await self.change(tenant, user_id, without_idle_recovery)


def without_idle_recovery(factors: CodeFactors) -> CodeFactors:
    if factors.generators or factors.by_email or not factors.recovery_hashes:
        return factors
    return factors.with_recovery((), None)
