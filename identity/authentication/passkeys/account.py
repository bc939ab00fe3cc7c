"""Changes of an account that follow from its passkeys."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from identity.access.callers import Actor
from identity.access.person import Person
from identity.authentication.passkeys.config import WebauthnConfig
from identity.authentication.passkeys.passkeys import Passkeys
from identity.directory.user import AccountType, User, UserId
from identity.directory.users import Users
from identity.foundation.tenants import Tenant
from server.platform.errors import InvalidState, NotFound, Unavailable
from server.platform.records import Changed

_ATTEMPTS = 20


class ModificationTokens(Protocol):
    """Proofs that the user just authenticated again."""

    async def spend(self, person: Person, token: str) -> None:
        """Raises InvalidArgument."""
        ...

    async def spend_own(self, tenant: Tenant, user_id: UserId, token: str, *, actor: Actor) -> None:
        """Redeem the token of a user who changes their own account; others need none. Raises InvalidArgument."""
        ...


class OtherFactors(Protocol):
    """Second factors other than passkeys."""

    async def without_passkeys(self, tenant: Tenant, user_id: UserId) -> None:
        """React to the removal of a user's last passkey."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PasskeyAccounts:
    users: Users
    passkeys: Passkeys
    other_factors: OtherFactors
    config: WebauthnConfig

    async def added(self, tenant: Tenant, user_id: UserId) -> None:
        """Record a new passkey. With the first one the password no longer expires, if so configured."""

        def changed(user: User) -> User:
            keeps_password = self.config.no_password_expiry_with_passkey and not user.has_passkey
            return replace(
                user, has_passkey=True, password_until=None if keeps_password else user.password_until
            )

        await self._change(tenant, user_id, changed)

    async def removed(self, tenant: Tenant, user_id: UserId) -> None:
        if not await self.passkeys.of(tenant, user_id):
            await self._change(tenant, user_id, lambda user: replace(user, has_passkey=False))
            await self.other_factors.without_passkeys(tenant, user_id)

    async def convert(self, tenant: Tenant, user_id: UserId) -> User:
        """Remove the password; raises NotFound without a passkey, InvalidState when none verifies its user."""
        kept = await self.passkeys.of(tenant, user_id)
        if not kept:
            raise NotFound("there is no passkey")
        if not any(passkey.is_user_verified for passkey in kept):
            raise InvalidState("no passkey verifies its user")
        return await self._change(tenant, user_id, _converted)

    async def _change(self, tenant: Tenant, user_id: UserId, changed: Callable[[User], User]) -> User:
        for _ in range(_ATTEMPTS):
            user = await self.users.find(tenant, user_id)
            if user is None:
                raise NotFound("there is no such user")
            try:
                return await self.users.replace(changed(user))
            except Changed:
                continue
        raise Unavailable.untouched("too many requests change the user at the same time")


def _converted(user: User) -> User:
    if user.account_type is not AccountType.PASSWORD:
        raise InvalidState("the account has no password")
    return replace(user, account_type=AccountType.PASSKEY, password_hash="", password_until=None)
