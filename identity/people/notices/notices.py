"""Notifies users by mail of security events of their account: OWASP ASVS 5, 6.3.7.

Notices are sent for security events, so every change that emits an event is covered. After a change of the e-mail
address, the old address gets a notice as well.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from identity.delivery.mail.letter import Letter
from identity.directory.user import User, UserId
from identity.directory.users import Users
from identity.foundation.events.event import Event
from identity.foundation.events.kinds import EventType
from identity.foundation.events.new_addresses import address_before
from identity.foundation.tenants import Tenant, Tenants
from identity.people.notices.letters import TOLD_OF, notice
from identity.people.notices.revocations import Revocations
from server.platform.errors import NotFound
from server.platform.languages import languages


class Mail(Protocol):
    @property
    def is_open(self) -> bool: ...

    async def post(self, tenant: Tenant, letter: Letter) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Notices:
    """Listens to security events."""

    tenants: Tenants
    users: Users
    revocations: Revocations
    mail: Mail

    async def hear(self, event: Event) -> None:
        if event.type not in TOLD_OF or not event.user_id or not self.mail.is_open:
            return
        try:
            tenant = self.tenants.find(event.tenant_id)
        except NotFound:
            return
        user = await self.users.find(tenant, UserId(event.user_id))
        if user is None:
            return
        language = languages().of(user.language)
        for address in _addresses(user, event):
            not_me = await self.revocations.link(tenant, user.user_id)
            await self.mail.post(tenant, notice(address, event, not_me, language))


def _addresses(user: User, event: Event) -> Iterator[str]:
    yield user.email
    if event.type is EventType.USER_EMAIL_CHANGE:
        yield address_before(event.text or "")
