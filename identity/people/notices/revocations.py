"""Links in notices by which users report a change as not theirs; valid once, for a week."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from identity.access.sign_out import SignOut
from identity.directory.consents.support_access import SupportAccesses
from identity.directory.links.link import Link, Usage
from identity.directory.links.links import Links
from identity.directory.user import UserId
from identity.directory.users import Users
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import NotFound

_GOOD_FOR = timedelta(days=7)

# Links that an attacker may have requested.
_PENDING = (Usage.CHANGE_EMAIL, Usage.RESET_PASSWORD)


class Places(Protocol):
    async def forget(self, tenant: Tenant, user_id: UserId) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Revocations:
    users: Users
    links: Links
    sign_out: SignOut
    places: Places
    support: SupportAccesses
    events: Events
    clock: Clock

    async def link(self, tenant: Tenant, user_id: UserId) -> str:
        """Return the address of a new link."""
        code = await self.links.issue(tenant, user_id, Usage.REVOKE, until=self.clock.now() + _GOOD_FOR)
        return f"{tenant.issuer}users/{user_id}/revoke/{code}"

    async def find(self, tenant: Tenant, user_id: UserId, code: str) -> Link:
        """Raises NotFound for an unknown, used or expired link."""
        link = await self.links.find(tenant, user_id, Usage.REVOKE, code)
        if link is None or not link.is_good(self.clock.now()):
            raise _dead()
        return link

    async def revoke(self, tenant: Tenant, user_id: UserId, code: str, *, peer_address: str) -> None:
        """Sign the user out everywhere, and forget pending links, known browsers and the permission for support.

        Raises NotFound.
        """
        link, user = await self.find(tenant, user_id, code), await self.users.find(tenant, user_id)
        if user is None or not await self.links.redeem(link):
            raise _dead()
        for usage in _PENDING:
            await self.links.cancel(tenant, user_id, usage)
        await self.support.take(tenant, user_id)
        await self.sign_out.everywhere(tenant, user_id)
        await self.places.forget(tenant, user_id)
        await self.events.emit(
            tenant.tenant_id,
            EventType.USER_LOGIN_REVOKE,
            ip=peer_address or None,
            text=user.email,
            user_id=user_id,
        )


def _dead() -> NotFound:
    return NotFound("there is no such link, or it was used or has expired")
