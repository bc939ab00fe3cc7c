"""Finds or creates the account of a user who signed in at an upstream provider: ASVS 5.0 §6.8.

A user is identified by the provider and its `sub` alone. An e-mail address is used once, to link an existing account,
and only if the provider has verified it. An administrator's account is never linked by address, because the provider
could take it over.
"""

from dataclasses import dataclass

from identity.authentication.federation.account_changes import with_labels
from identity.authentication.federation.claims import UpstreamPerson
from identity.authentication.federation.hints import SignInDomains
from identity.authentication.federation.linked_accounts import LinkedAccounts
from identity.directory.provider import Provider, ProviderLink, link_id_of
from identity.directory.user import AccountType, User, UserId
from identity.foundation.errors import AccessDenied
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import Unavailable
from server.platform.records import AlreadyThere, Changed

_ID_LENGTH = 24
_ATTEMPTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamAccounts:
    linked: LinkedAccounts[ProviderLink]
    domains: SignInDomains
    clock: Clock
    randomness: Randomness

    async def of(self, tenant: Tenant, provider: Provider, person: UpstreamPerson) -> User:
        """Return the account with roles and groups updated from the claims; raises AccessDenied when there is none."""
        user = await self.linked.find(tenant, link_id_of(provider, person.sub))
        if user is None:
            users = self.linked.users
            user = await users.find_by_email(tenant, person.email) if person.email else None
            if user is None:
                user = await self._create(tenant, provider, person)
            else:
                await self._link(tenant, provider, person, user=user)
        return await self._updated(tenant, provider, person, user_id=user.user_id)

    async def _link(self, tenant: Tenant, provider: Provider, person: UpstreamPerson, *, user: User) -> None:
        domain = person.email.partition("@")[2]
        is_vouched_for = person.is_email_verified or await self.domains.is_of_provider(
            tenant, domain, provider.id
        )
        if not (provider.fields.links and is_vouched_for) or await self.linked.administers(user):
            raise AccessDenied("there is an account of this address, which is not linked to the provider")
        await self.linked.link(tenant, user, _link_of(provider, person, user))

    async def _create(self, tenant: Tenant, provider: Provider, person: UpstreamPerson) -> User:
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
        try:
            await self.linked.create(user, _link_of(provider, person, user))
        except AlreadyThere as error:
            raise AccessDenied("there is an account of this address already") from error
        return user

    async def _updated(
        self, tenant: Tenant, provider: Provider, person: UpstreamPerson, *, user_id: UserId
    ) -> User:
        """Update the roles and groups that the provider's claim mappings give."""
        users = self.linked.users
        for _ in range(_ATTEMPTS):
            before = await users.find(tenant, user_id)
            if before is None or not before.is_active(self.clock.now()):
                raise AccessDenied("the account has expired or is disabled")
            after = with_labels(before, provider.fields.mappings, roles=person.roles, groups=person.groups)
            try:
                kept = await self.linked.replace(before, after.signed_in(self.clock.now()))
            except Changed:
                continue
            await self.linked.tell(before, kept)
            return kept
        raise Unavailable("too many requests change the account at the same time")


def _link_of(provider: Provider, person: UpstreamPerson, user: User) -> ProviderLink:
    return ProviderLink(
        tenant_id=user.tenant_id,
        id=link_id_of(provider, person.sub),
        provider_id=provider.id,
        user_id=user.id,
    )
