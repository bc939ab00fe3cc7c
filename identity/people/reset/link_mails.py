"""Mails links for password resets, and first links of accounts that an administrator created."""

import logging
from dataclasses import dataclass

from identity.delivery.mail.letter import Letter
from identity.directory.links.link import Usage
from identity.directory.user import AccountType, User, UserId
from identity.directory.users import Users
from identity.foundation.events.event import Event
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant, Tenants
from identity.people.reset import letters
from identity.people.reset.config import PasswordResetConfig
from identity.people.reset.magic_links import MagicLinks
from identity.people.reset.mail import Mail
from identity.people.reset.requests import ResetRequest
from server.platform.clock import Clock
from server.platform.errors import NotFound
from server.platform.languages import languages

logger = logging.getLogger(__name__)

_SUBJECT_MATTER = "password reset"
_EXPIRED = "PASSWORD_EXPIRED"

# A password would change the type of these accounts.
_WITHOUT_PASSWORD = frozenset({AccountType.FEDERATED, AccountType.FEDERATED_PASSKEY})


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetMails:
    """Handles the queue of password reset requests."""

    users: Users
    magic_links: MagicLinks
    mail: Mail
    clock: Clock
    config: PasswordResetConfig

    async def handle(self, tenant: Tenant, request: ResetRequest) -> bool:
        user = await self.users.find_by_email(tenant, request.email)
        if user is not None:
            await self.write(tenant, user, redirect_uri=request.redirect_uri)
        return True

    async def give_up(self, request: ResetRequest) -> None:
        logger.error(
            "a password reset request failed and is not repeated", extra={"tenant_id": request.tenant_id}
        )

    async def write(self, tenant: Tenant, user: User, *, redirect_uri: str = "") -> None:
        """Mail a link to a user who may sign in with a password, subject to the rate limit."""
        if not user.is_active(self.clock.now()):
            return
        language = languages().of(user.language)
        if await self._signs_in_elsewhere(tenant, user):
            await self._posted(
                tenant, letters.signed_in_elsewhere(user.email, f"{tenant.issuer}sign-in", language)
            )
            return
        link = await self.magic_links.issue(tenant, user, Usage.RESET_PASSWORD, redirect_uri=redirect_uri)
        if not await self._posted(
            tenant, letters.forgotten_password(user.email, link.address, link.until, language)
        ):
            await self.magic_links.withdraw(tenant, link)

    async def _signs_in_elsewhere(self, tenant: Tenant, user: User) -> bool:
        in_charge = await self.magic_links.targets.provider_in_charge(tenant, user.email)
        return in_charge is not None or user.account_type in _WITHOUT_PASSWORD

    async def _posted(self, tenant: Tenant, letter: Letter) -> bool:
        return await self.mail.post_seldom(
            tenant, letter, subject_matter=_SUBJECT_MATTER, every=self.config.letter_interval
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiredPasswords:
    """Mails a link to a user whose right but expired password was refused; listens to security events."""

    tenants: Tenants
    reset_mails: ResetMails

    async def hear(self, event: Event) -> None:
        is_expired = event.type is EventType.LOGIN_REFUSED and event.text == _EXPIRED
        if not (is_expired and event.user_id and self.reset_mails.mail.is_open):
            return
        try:
            tenant = self.tenants.find(event.tenant_id)
        except NotFound:
            return
        user = await self.reset_mails.users.find(tenant, UserId(event.user_id))
        if user is not None:
            await self.reset_mails.write(tenant, user)


@dataclass(frozen=True, slots=True, kw_only=True)
class WelcomeMails:
    """Mails users of accounts that an administrator created."""

    magic_links: MagicLinks
    mail: Mail

    async def greet(self, tenant: Tenant, user: User) -> None:
        """Mail a link to a user who cannot sign in yet."""
        if not (self.mail.is_open and user.has_no_way_in):
            return
        language = languages().of(user.language)
        if await self.magic_links.targets.provider_in_charge(tenant, user.email) is not None:
            letter = letters.company_account(user.email, f"{tenant.issuer}sign-in", language)
        else:
            link = await self.magic_links.issue(tenant, user, Usage.NEW_ACCOUNT)
            letter = letters.first_password(user.email, link.address, link.until, language)
        await self.mail.post(tenant, letter)
