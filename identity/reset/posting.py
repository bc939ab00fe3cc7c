"""Sends what was asked for to whom it belongs, and its first link to whom an account was made for."""

import logging
from dataclasses import dataclass

from identity.directory.user import AccountType, User
from identity.directory.users import Users
from identity.links.link import Usage
from identity.mail.letter import Letter
from identity.reset import letters
from identity.reset.config import PasswordResetConfig
from identity.reset.magic_links import MagicLinks
from identity.reset.mail import Mail
from identity.reset.requests import ResetRequest
from identity.tenants import Tenant
from server.platform.clock import Clock

logger = logging.getLogger(__name__)

_SUBJECT_MATTER = "password reset"

# Those that a password would make into something else than they are.
_WITHOUT_PASSWORD = frozenset({AccountType.FEDERATED, AccountType.FEDERATED_PASSKEY})


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetPosting:
    """Carries requests for links."""

    users: Users
    magic_links: MagicLinks
    mail: Mail
    clock: Clock
    config: PasswordResetConfig

    async def carry(self, tenant: Tenant, request: ResetRequest) -> bool:
        user = await self.users.find_by_email(tenant, request.email)
        if user is None or not user.is_active(self.clock.now()):
            return True
        if user.account_type in _WITHOUT_PASSWORD:
            await self._posted(tenant, letters.signed_in_elsewhere(user.email, f"{tenant.issuer}sign-in"))
            return True
        link = await self.magic_links.issue(
            tenant, user, Usage.RESET_PASSWORD, redirect_uri=request.redirect_uri
        )
        if not await self._posted(tenant, letters.forgotten_password(user.email, link.address, link.until)):
            await self.magic_links.withdraw(tenant, link)
        return True

    async def _posted(self, tenant: Tenant, letter: Letter) -> bool:
        return await self.mail.post_seldom(
            tenant, letter, subject_matter=_SUBJECT_MATTER, every=self.config.letter_interval
        )

    async def give_up(self, request: ResetRequest) -> None:
        logger.error("a password reset was lost", extra={"tenant_id": request.tenant_id})


@dataclass(frozen=True, slots=True, kw_only=True)
class Welcome:
    """Writes to people for whom an administrator made an account."""

    magic_links: MagicLinks
    mail: Mail

    async def greet(self, tenant: Tenant, user: User) -> None:
        """Send a link to whoever has no way to sign in yet."""
        if not self.mail.is_open or user.account_type is not AccountType.NEW:
            return
        if await self.magic_links.targets.provider_in_charge(tenant, user.email) is not None:
            letter = letters.company_account(user.email, f"{tenant.issuer}sign-in")
        else:
            link = await self.magic_links.issue(tenant, user, Usage.NEW_ACCOUNT)
            letter = letters.first_password(user.email, link.address, link.until)
        await self.mail.post(tenant, letter)
