"""Confirmation links for the owner of an e-mail address.

A link is valid while its attempt is the account's current one. The write that creates a new link therefore invalidates
all earlier ones, also when two processes do so concurrently. Earlier links are not deleted but expire: the process whose
write came first may mail its link last, and would delete the valid one.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from identity.delivery.mail.letter import Letter
from identity.directory.links.link import Link, Usage
from identity.directory.pending_registration import PendingRegistration
from identity.directory.tenants.settings import TenantSettings
from identity.directory.user import User, UserId
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from identity.people.registration import letters
from server.platform.clock import Clock
from server.platform.languages import languages

_ATTEMPT_LENGTH = 24


class Links(Protocol):
    async def issue(
        self, tenant: Tenant, user_id: UserId, usage: Usage, *, until: datetime, value: str = ""
    ) -> str: ...

    async def find(self, tenant: Tenant, user_id: UserId, usage: Usage, code: str) -> Link | None: ...

    async def redeem(self, link: Link) -> bool: ...


class MailQueue(Protocol):
    async def post(self, tenant: Tenant, letter: Letter) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationLinks:
    links: Links
    mail_queue: MailQueue
    events: Events
    clock: Clock
    randomness: Randomness

    def first(self) -> PendingRegistration:
        """Return the attempt of a new account; the caller then calls `send`."""
        return PendingRegistration(attempt="").sent_again(self._attempt(), self.clock.now())

    def again(self, registration: PendingRegistration | None) -> PendingRegistration | None:
        """Return another attempt, or None when the address got its share of mails for now."""
        before = registration or PendingRegistration(attempt="")
        now = self.clock.now()
        return before.sent_again(self._attempt(), now) if before.may_be_sent(now) else None

    async def send(self, tenant: Tenant, user: User, settings: TenantSettings) -> None:
        """Mail the link of the account's current attempt; its lifetime comes from the present settings."""
        if user.registration is None:
            return
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
        language = languages().of(user.language)
        letter = write(tenant, user.email, link=link, hours=hours, language=language)
        await self.mail_queue.post(tenant, letter)
        await self.events.emit(tenant.tenant_id, EventType.USER_CONFIRMATION_SENT, user_id=user.id)

    async def find(self, tenant: Tenant, user_id: UserId, code: str) -> Link | None:
        """Return the user's link, also a used or expired one, or one of an earlier attempt."""
        return await self.links.find(tenant, user_id, Usage.CONFIRM_EMAIL, code)

    @staticmethod
    def is_current(link: Link, user: User) -> bool:
        """Whether the link is of the account's current attempt."""
        return user.registration is not None and link.value == user.registration.attempt

    async def use_up(self, link: Link) -> None:
        await self.links.redeem(link)

    def _attempt(self) -> str:
        return self.randomness.alphanumeric(_ATTEMPT_LENGTH)
