"""Keeps an account's flag for one-time codes in step with its generators and codes by mail."""

from dataclasses import dataclass, replace

from identity.authentication.one_time_codes.code_factor_records import CodeFactorRecords
from identity.directory.user import User, UserId
from identity.directory.users import Users
from identity.foundation.tenants import Tenant
from server.platform.errors import NotFound, Unavailable
from server.platform.records import Changed

_ATTEMPTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeAccounts:
    users: Users
    factor_records: CodeFactorRecords

    async def user(self, tenant: Tenant, user_id: UserId) -> User:
        """Raises NotFound."""
        user = await self.users.find(tenant, user_id)
        if user is None:
            raise NotFound("there is no such user")
        return user

    async def keep_up(self, tenant: Tenant, user_id: UserId) -> None:
        """Update the flag of the account; raises NotFound, Unavailable."""
        for _ in range(_ATTEMPTS):
            user = await self.user(tenant, user_id)
            kept = await self.factor_records.of(tenant, user_id)
            has_codes = bool(kept.generators) or kept.by_email
            if user.has_one_time_codes == has_codes:
                return
            try:
                await self.users.replace(replace(user, has_one_time_codes=has_codes))
            except Changed:
                continue
            return
        raise Unavailable.untouched("too many requests change the user at the same time")
