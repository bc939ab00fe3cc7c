"""Accounts that a link finds: those of users who are verified at an upstream provider or in a directory."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from identity.access.last_administrator import LastAdministrator
from identity.authentication.federation.account_changes import vouched_for
from identity.authentication.passkeys.passkey import Passkey
from identity.directory.provider import ProviderLink
from identity.directory.tenants.ldap_directory import LdapLink
from identity.directory.user import User, UserId
from identity.directory.users import Users
from identity.directory.version import DirectoryVersion
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import InvalidState, Unavailable
from server.platform.records import AlreadyThere, Changed, Records

logger = logging.getLogger(__name__)


class SignOut(Protocol):
    async def finish(self, tenant: Tenant, user_id: UserId) -> None: ...


L = TypeVar("L", ProviderLink, LdapLink)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedAccounts(Generic[L]):
    users: Users
    links: Records[L]
    administers: Callable[[User], Awaitable[bool]]
    last_administrator: LastAdministrator
    version: DirectoryVersion
    sign_out: SignOut
    passkeys: Records[Passkey]
    events: Events
    clock: Clock

    async def find(self, tenant: Tenant, link_id: str) -> User | None:
        link = await self.links.get(tenant.tenant_id, link_id)
        if link is None:
            return None
        user = await self.users.find(tenant, UserId(link.user_id))
        if user is None:
            # The account was deleted, or its creation failed.
            await self.links.take(tenant.tenant_id, link_id)
        return user

    async def link(self, tenant: Tenant, user: User, link: L) -> None:
        """Link an account whose address is the user's. The caller has checked that the address proves the user."""
        if not user.is_email_verified:
            # The creator of the account never confirmed the address, so sessions and passkeys may be a stranger's.
            await self.passkeys.remove(tenant.tenant_id, "user_id", user.user_id)
        now = self.clock.now()
        vouched = vouched_for(user, now)
        try:
            await self.users.replace(vouched if user.is_email_verified else replace(vouched, not_before=now))
        except Changed as error:
            raise Unavailable.untouched("the account is being changed by another caller") from error
        if not user.is_email_verified:
            await self.sign_out.finish(tenant, user.user_id)
        await self._insert(link)

    async def create(self, user: User, link: L) -> None:
        """Raises AlreadyThere when there is an account of the address."""
        # The link first: of two concurrent sign-ins only one can create the account.
        await self._insert(link)
        try:
            kept = await self.users.add(user)
        except AlreadyThere:
            await self.links.take(link.tenant_id, link.id)
            raise
        await self.events.emit(
            kept.tenant_id, EventType.NEW_USER_REGISTERED, text=kept.email, user_id=kept.id
        )

    async def replace(self, before: User, after: User) -> User:
        """Replace an account at a sign-in; the last administrator keeps the present roles and groups.

        Raises Changed, AlreadyThere.
        """
        try:
            guard = await self.last_administrator.guard(before, after)
        except InvalidState:
            # A refused sign-in would lock this user out, and with them all administration.
            logger.warning(
                "the last administrator keeps roles and groups that the upstream no longer gives",
                extra={"tenant_id": before.tenant_id, "user_id": before.id},
            )
            return await self.users.replace(replace(after, roles=before.roles, groups=before.groups))
        return await self.users.replace(after, guard)

    async def tell(self, before: User, after: User) -> None:
        """Report a change of roles and groups."""
        if (after.roles, after.groups) != (before.roles, before.groups):
            await self.version.advance(after.id)
        if await self.administers(after) and not await self.administers(before):
            await self.events.emit(
                after.tenant_id, EventType.NEW_ADMINISTRATOR, text=after.email, user_id=after.id
            )

    async def _insert(self, link: L) -> None:
        try:
            await self.links.insert(link)
        except AlreadyThere as error:
            raise Unavailable("another sign-in of this user is in progress") from error
