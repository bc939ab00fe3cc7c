"""Mails about sign-ins with a new browser or from a new network address."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from identity.delivery.mail.letter import Letter
from identity.directory.tenants.settings import SignInNotice, TenantSettings
from identity.directory.user import User, UserId
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from identity.people.notices.letters import new_sign_in
from server.platform.languages import languages

MOST_A_DAY = 5
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSignIn:
    """`browser` is a name of our own words, `country` an ISO 3166 code; both are empty when unknown."""

    at: datetime
    peer_address: str
    browser: str
    country: str
    has_new_device: bool
    has_new_address: bool
    has_new_country: bool

    @property
    def text(self) -> str:
        """Return the text of events."""
        return ", ".join(filter(None, (self.browser, self.country)))

    @property
    def event_types(self) -> Sequence[EventType]:
        device = (EventType.LOGIN_NEW_DEVICE,) if self.has_new_device else ()
        return (*device, EventType.LOGIN_NEW_LOCATION) if self.has_new_address else device

    def is_of_interest(self, notice: SignInNotice) -> bool:
        """Whether a tenant with this setting notifies the user."""
        if notice is SignInNotice.NEW_ADDRESS:
            return self.has_new_device or self.has_new_address
        return notice is SignInNotice.NEW_DEVICE and (self.has_new_device or self.has_new_country)


class Settings(Protocol):
    async def of(self, tenant: Tenant) -> TenantSettings: ...


class Mail(Protocol):
    @property
    def is_open(self) -> bool: ...

    async def post_seldom(
        self, tenant: Tenant, letter: Letter, *, subject_matter: str, every: timedelta
    ) -> bool: ...


class RevocationLinks(Protocol):
    async def link(self, tenant: Tenant, user_id: UserId) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInNotices:
    settings: Settings
    revocations: RevocationLinks
    mail: Mail

    async def post(self, tenant: Tenant, user: User, sign_in: NewSignIn) -> None:
        """Queue a mail, at most `MOST_A_DAY` for an address; raises Unavailable."""
        if not self.mail.is_open or not sign_in.event_types:
            return
        if not sign_in.is_of_interest((await self.settings.of(tenant)).sign_in_notice):
            return
        letter = new_sign_in(
            user.email,
            sign_in,
            account=f"{tenant.issuer}account",
            not_me=await self.revocations.link(tenant, user.user_id),
            language=languages().of(user.language),
        )
        for number in range(MOST_A_DAY):
            matter = f"new sign-in {number}"
            if await self.mail.post_seldom(tenant, letter, subject_matter=matter, every=_DAY):
                return
