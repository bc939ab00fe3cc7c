"""Links by which the owner of an address confirms it.

A link counts as long as the account says that its attempt is the last one, so a newer link ends those before it in the
same write that makes it: whatever two processes do at once, one counts.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from identity.directory.pending_registration import PendingRegistration
from identity.directory.user import User, UserId
from identity.events.events import Events
from identity.events.kinds import EventType
from identity.links.link import Link, Usage
from identity.mail.letter import Letter
from identity.randomness import Randomness
from identity.registration import letters
from identity.tenancy.settings import TenantSettings
from identity.tenants import Tenant
from server.platform.clock import Clock

_ATTEMPT_LENGTH = 24


class Links(Protocol):
    async def issue(
        self, tenant: Tenant, user_id: UserId, usage: Usage, *, until: datetime, value: str = ""
    ) -> str: ...

    async def find(self, tenant: Tenant, user_id: UserId, usage: Usage, code: str) -> Link | None: ...

    async def redeem(self, link: Link) -> bool: ...

    async def cancel(self, tenant: Tenant, user_id: UserId, usage: Usage) -> None: ...


class Postbox(Protocol):
    async def post(self, tenant: Tenant, letter: Letter) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationLinks:
    links: Links
    postbox: Postbox
    events: Events
    clock: Clock
    randomness: Randomness

    def first(self) -> PendingRegistration:
        """Return the attempt of a new account, for whose letter `send` is called next."""
        return PendingRegistration(attempt="").sent_again(self._attempt(), self.clock.now())

    def again(self, registration: PendingRegistration | None) -> PendingRegistration | None:
        """Return another attempt in the place of one, None when its address got enough letters for now."""
        before = registration or PendingRegistration(attempt="")
        now = self.clock.now()
        return before.sent_again(self._attempt(), now) if before.may_be_sent(now) else None

    async def send(self, tenant: Tenant, user: User, settings: TenantSettings) -> None:
        """Send the link of the account's attempt, which is kept already; it is good as long as settings say now."""
        if user.registration is None:
            return
        await self.links.cancel(tenant, user.user_id, Usage.CONFIRM_EMAIL)
        hours = settings.confirmation_link_hours
        code = await self.links.issue(
            tenant,
            user.user_id,
            Usage.CONFIRM_EMAIL,
            until=self.clock.now() + timedelta(hours=hours),
            value=user.registration.attempt,
        )
        link = f"{tenant.issuer}users/{user.id}/email_confirm/{code}"
        write = letters.confirmation_of_several if user.is_contested else letters.confirmation
        await self.postbox.post(tenant, write(tenant, user.email, link=link, hours=hours))
        await self.events.emit(tenant.tenant_id, EventType.USER_CONFIRMATION_SENT, user_id=user.id)

    async def find(self, tenant: Tenant, user: User, code: str) -> Link | None:
        """Return the person's link, used and ended ones too, None when another attempt counts."""
        link = await self.links.find(tenant, user.user_id, Usage.CONFIRM_EMAIL, code)
        if link is None or user.registration is None or link.value != user.registration.attempt:
            return None
        return link

    async def use_up(self, link: Link) -> None:
        await self.links.redeem(link)

    def _attempt(self) -> str:
        return self.randomness.alphanumeric(_ATTEMPT_LENGTH)
