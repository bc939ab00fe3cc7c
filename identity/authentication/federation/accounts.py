"""Finds or creates the account of a user who signed in at an upstream provider: ASVS 5.0 §6.8.

A user is identified by the provider and its `sub` alone. An e-mail address is used once, to link an existing account,
and only if the provider has verified it. An administrator's account is never linked by address, because the provider
could take it over.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from identity.authentication.federation.account_changes import vouched_for, with_labels
from identity.authentication.federation.claims import UpstreamPerson
from identity.authentication.federation.hints import SignInDomains
from identity.directory.provider import Provider, ProviderLink, link_id_of
from identity.directory.user import AccountType, User, UserId
from identity.directory.users import Users
from identity.directory.version import DirectoryVersion
from identity.foundation.errors import AccessDenied
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import Unavailable
from server.platform.records import AlreadyThere, Changed, Records

_ID_LENGTH = 24
_ATTEMPTS = 20


class SignOut(Protocol):
    async def everywhere(self, tenant: Tenant, user_id: UserId) -> None: ...


class Passkeys(Protocol):
    async def remove_of_user(self, tenant: Tenant, user_id: UserId) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamAccounts:
    users: Users
    links: Records[ProviderLink]
    domains: SignInDomains
    administers: Callable[[User], Awaitable[bool]]
    version: DirectoryVersion
    sign_out: SignOut
    passkeys: Passkeys
    events: Events
    clock: Clock
    randomness: Randomness

    async def of(self, tenant: Tenant, provider: Provider, person: UpstreamPerson) -> User:
        """Return the account with roles and groups updated from the claims; raises AccessDenied when there is none."""
        user = await self._linked(tenant, provider, person)
        if user is None:
            known = await self.users.find_by_email(tenant, person.email) if person.email else None
            if known is None:
                user = await self._new(tenant, provider, person)
            else:
                user = await self._link(tenant, provider, person, user=known)
        return await self._kept_up(tenant, provider, person, user_id=user.user_id)

    async def _linked(self, tenant: Tenant, provider: Provider, person: UpstreamPerson) -> User | None:
        link = await self.links.get(tenant.tenant_id, link_id_of(provider, person.sub))
        if link is None:
            return None
        user = await self.users.find(tenant, UserId(link.user_id))
        if user is None:
            # The link of an account that was deleted, or whose creation failed.
            await self.links.take(tenant.tenant_id, link.id)
        return user

    async def _link(self, tenant: Tenant, provider: Provider, person: UpstreamPerson, *, user: User) -> User:
        domain = person.email.partition("@")[2]
        is_vouched_for = person.is_email_verified or await self.domains.is_of_provider(
            tenant, domain, provider.id
        )
        if not (provider.fields.links and is_vouched_for) or await self.administers(user):
            raise AccessDenied("there is an account of this address, which is not linked to the provider")
        if not user.is_email_verified:
            # The creator of the account never confirmed the address, so sessions and passkeys may be a stranger's.
            await self.sign_out.everywhere(tenant, user.user_id)
            await self.passkeys.remove_of_user(tenant, user.user_id)
        try:
            kept = await self.users.replace(vouched_for(user, self.clock.now()))
        except Changed as error:
            raise Unavailable.untouched("the account is being changed by another caller") from error
        await self._note(tenant, provider, person, user=kept)
        return kept

    async def _new(self, tenant: Tenant, provider: Provider, person: UpstreamPerson) -> User:
        if not (provider.fields.onboards and person.email):
            raise AccessDenied("no account is linked to this user of the provider")
        now = self.clock.now()
        user = User(
            tenant_id=tenant.tenant_id,
            id=self.randomness.alphanumeric(_ID_LENGTH),
            email=person.email,
            is_email_verified=person.is_email_verified,
            given_name=person.given_name,
            family_name=person.family_name,
            account_type=AccountType.FEDERATED,
            tenant_ids=(tenant.tenant_id,),
            created_at=now,
            changed_at=now,
        )
        # The link first: of two concurrent sign-ins only one can create the account.
        await self._note(tenant, provider, person, user=user)
        try:
            kept = await self.users.add(user)
        except AlreadyThere as error:
            await self.links.take(tenant.tenant_id, link_id_of(provider, person.sub))
            raise AccessDenied("there is an account of this address already") from error
        await self.events.emit(
            tenant.tenant_id, EventType.NEW_USER_REGISTERED, text=kept.email, user_id=kept.id
        )
        return kept

    async def _note(self, tenant: Tenant, provider: Provider, person: UpstreamPerson, *, user: User) -> None:
        link = ProviderLink(
            tenant_id=tenant.tenant_id,
            id=link_id_of(provider, person.sub),
            provider_id=provider.id,
            user_id=user.id,
        )
        try:
            await self.links.insert(link)
        except AlreadyThere as error:
            raise Unavailable("another sign-in of this user is in progress") from error

    async def _kept_up(
        self, tenant: Tenant, provider: Provider, person: UpstreamPerson, *, user_id: UserId
    ) -> User:
        """Update the roles and groups that the provider's claim mappings give."""
        for _ in range(_ATTEMPTS):
            before = await self.users.find(tenant, user_id)
            if before is None or not before.is_active(self.clock.now()):
                raise AccessDenied("the account has expired or is disabled")
            after = with_labels(before, provider.fields.mappings, roles=person.roles, groups=person.groups)
            try:
                kept = await self.users.replace(after.signed_in(self.clock.now()))
            except Changed:
                continue
            if (kept.roles, kept.groups) != (before.roles, before.groups):
                await self.version.advance()
            if await self.administers(kept) and not await self.administers(before):
                await self.events.emit(
                    tenant.tenant_id, EventType.NEW_ADMINISTRATOR, text=kept.email, user_id=kept.id
                )
            return kept
        raise Unavailable("too many requests change the account at the same time")
