"""Links that give the owner of a mailbox access to the account: short-lived, single-use, bound to one browser."""

import hmac
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from identity.directory.links.link import Link, Usage
from identity.directory.links.links import Links
from identity.directory.secrets import SecretHasher
from identity.directory.user import User, UserId
from identity.directory.users import Users
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from identity.people.reset.config import PasswordResetConfig
from identity.people.reset.terms import Terms, terms_of
from identity.people.reset.upstream_users import Targets, expect_no_company
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument, NotFound, PermissionDenied, Unauthenticated
from server.platform.records import Changed

COOKIE_LENGTH = 48
_CSRF_TOKEN_LENGTH = 48
_EXPIRED = "This link has expired already"

_TO_AN_ACCOUNT = frozenset({Usage.RESET_PASSWORD, Usage.NEW_ACCOUNT})


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownLink:
    """A request with a link: its code, the browser's cookie and the CSRF token of the page; empty when missing."""

    user_id: UserId
    code: str = field(repr=False)
    cookie: str = field(default="", repr=False)
    csrf_token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedLink:
    """`address` is the URL for the mail."""

    code: str = field(repr=False)
    address: str = field(repr=False)
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldLink:
    """A valid link in the browser that it is bound to."""

    link: Link
    terms: Terms
    user: User

    @property
    def sid(self) -> str:
        """Id of the browser for ceremonies; it differs from all session ids."""
        return f"link {self.link.binding}"

    @property
    def is_of_new_account(self) -> bool:
        return self.link.usage is Usage.NEW_ACCOUNT


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedLink:
    """`cookie` binds the link to the browser, for `lifetime`."""

    held: HeldLink
    cookie: str = field(repr=False)
    csrf_token: str = field(repr=False)
    lifetime: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class MagicLinks:
    links: Links
    users: Users
    targets: Targets
    hasher: SecretHasher
    clock: Clock
    randomness: Randomness
    config: PasswordResetConfig

    async def issue(self, tenant: Tenant, user: User, usage: Usage, *, redirect_uri: str = "") -> IssuedLink:
        is_first = usage is Usage.NEW_ACCOUNT
        lifetime = self.config.first_link_lifetime if is_first else self.config.link_lifetime
        until = self.clock.now() + lifetime
        value = Terms(email=user.email, redirect_uri=redirect_uri).text()
        code = await self.links.issue(tenant, user.user_id, usage, until=until, value=value)
        address = f"{tenant.issuer}users/{user.id}/reset/{code}"
        return IssuedLink(code=code, address=address, until=until)

    async def of_new_account(self, tenant: Tenant, user: User, *, redirect_uri: str) -> str:
        """Return the URL of a first link, for a browser that opens it at once."""
        return (await self.issue(tenant, user, Usage.NEW_ACCOUNT, redirect_uri=redirect_uri)).address

    async def withdraw(self, tenant: Tenant, issued: IssuedLink) -> None:
        """Delete a link that was not sent."""
        await self.links.withdraw(tenant, issued.code)

    async def open(self, tenant: Tenant, shown: ShownLink) -> OpenedLink:
        """Bind a link to the browser.

        Raises NotFound for an unknown link, InvalidArgument for one that is used, expired or another user's, and
        PermissionDenied when it is bound to another browser or the user signs in through a provider.
        """
        held = await self._good(tenant, shown)
        cookie = shown.cookie if _is_ours(shown.cookie) else self.randomness.alphanumeric(COOKIE_LENGTH)
        link = await self._bound(held.link, self._binding(cookie))
        return OpenedLink(
            held=replace(held, link=link),
            cookie=cookie,
            csrf_token=self._csrf_token(shown.code, cookie),
            lifetime=link.good_until - self.clock.now(),
        )

    async def expect_held(self, tenant: Tenant, shown: ShownLink) -> HeldLink:
        """Return a link in the browser that opened it.

        Raises the errors of `open`, and Unauthenticated without a valid CSRF token.
        """
        if not shown.cookie:
            raise PermissionDenied("expected the cookie of the browser that opened the link")
        if not shown.csrf_token:
            raise Unauthenticated("CSRF Token is missing")
        if not _same(self._csrf_token(shown.code, shown.cookie), shown.csrf_token):
            raise Unauthenticated("the CSRF token is not of this link")
        held = await self._good(tenant, shown)
        if not _same(held.link.binding, self._binding(shown.cookie)):
            raise _another_browsers()
        return held

    async def find_by_cookie(self, tenant: Tenant, user_id: UserId, cookie: str) -> HeldLink:
        """Return the user's valid link that this browser has opened; raises PermissionDenied."""
        binding, user = self._binding(cookie), await self.users.find(tenant, user_id)
        links = await self.links.of_user(tenant, user_id, Usage.RESET_PASSWORD) if cookie and user else ()
        for link in links:
            if user is not None and _same(link.binding, binding) and self._is_good(link, user):
                return HeldLink(link=link, terms=terms_of(link), user=user)
        raise PermissionDenied("expected the cookie of the browser that opened the link")

    async def redeem(self, held: HeldLink) -> None:
        """Use a link up; raises InvalidArgument when another caller did before."""
        if not await self.links.redeem(held.link):
            raise InvalidArgument(_EXPIRED)

    async def cancel_all(self, tenant: Tenant, user_id: UserId) -> None:
        """Invalidate every link in the user's mailbox; used-up links to the account are later reported as expired."""
        for usage in _TO_AN_ACCOUNT:
            for link in await self.links.of_user(tenant, user_id, usage):
                await self.links.redeem(link)
        for usage in (Usage.CHANGE_EMAIL, Usage.CONFIRM_EMAIL):
            await self.links.cancel(tenant, user_id, usage)

    async def _good(self, tenant: Tenant, shown: ShownLink) -> HeldLink:
        link = await self.links.find_by_code(tenant, shown.code)
        if link is None or link.usage not in _TO_AN_ACCOUNT:
            raise NotFound("there is no such link")
        if link.user_id != shown.user_id:
            raise InvalidArgument("the link belongs to another account")
        user = await self.users.find(tenant, shown.user_id)
        if user is None or not self._is_good(link, user):
            raise InvalidArgument(_EXPIRED)
        try:
            await expect_no_company(self.targets, tenant, user.email)
        except PermissionDenied:
            await self.links.redeem(link)
            raise
        return HeldLink(link=link, terms=terms_of(link), user=user)

    def _is_good(self, link: Link, user: User) -> bool:
        now = self.clock.now()
        # After a change of address, the mailbox of the link is not the owner's any more.
        return link.is_good(now) and user.is_active(now) and user.email == terms_of(link).email

    async def _bound(self, link: Link, binding: str) -> Link:
        if _same(link.binding, binding):
            return link
        if link.binding and self.config.binds_first_browser:
            raise _another_browsers()
        try:
            return await self.links.bind(link, binding)
        except Changed as error:
            raise _another_browsers() from error

    def _binding(self, cookie: str) -> str:
        return self.hasher.hash(f"magic link browser {cookie}").hex()

    def _csrf_token(self, code: str, cookie: str) -> str:
        return self.hasher.hash(f"magic link page {code} {cookie}").hex()[:_CSRF_TOKEN_LENGTH]


def _is_ours(cookie: str) -> bool:
    return len(cookie) == COOKIE_LENGTH and cookie.isascii() and cookie.isalnum()


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


def _another_browsers() -> PermissionDenied:
    return PermissionDenied("the link belongs to the browser that opened it")
