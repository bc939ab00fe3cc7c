"""Administration of the upstream providers of a tenant."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from identity.access.administrators import Administrators
from identity.access.callers import Actor
from identity.administration.provider_checks import (
    expect_provider,
    expect_reachable_endpoints,
    is_known_elsewhere,
    needs_secret,
)
from identity.authentication.federation.secrets import ProviderSecrets
from identity.authentication.federation.signed_secrets import expect_private_key
from identity.authentication.saml.keys import SamlKeys
from identity.crypto.keys.master_keys import Sealed
from identity.delivery.http.destinations import Destinations
from identity.directory.provider import PROVIDERS, Provider, ProviderFields, ProviderLink
from identity.directory.providers import MOST
from identity.directory.user import User
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import Randomness
from identity.foundation.removals import Removals
from identity.foundation.tenants import Tenant
from server.platform.errors import InvalidArgument, InvalidState, NotFound, PermissionDenied
from server.platform.records import Changed, Records

_ID_LENGTH = 24
_MOST_SHOWN = 100
# Each user costs some reads, and any of them may be an administrator.
_MOST_LOOKED_THROUGH = 200


class Names(Protocol):
    async def known(self, tenant: Tenant, names: Iterable[str]) -> frozenset[str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderAdministration:
    """An empty `client_secret` keeps the present one."""

    providers: Records[Provider]
    links: Records[ProviderLink]
    users: Records[User]
    removals: Removals
    administrators: Administrators
    roles: Names
    groups: Names
    destinations: Destinations
    secrets: ProviderSecrets
    saml_keys: SamlKeys
    events: Events
    randomness: Randomness

    async def all(self, tenant: Tenant) -> Sequence[Provider]:
        """List them by id."""
        return await self.providers.page(tenant.tenant_id, most=MOST)

    async def create(
        self, tenant: Tenant, fields: ProviderFields, client_secret: str, *, actor: Actor
    ) -> Provider:
        """Raises InvalidArgument, InvalidState; PermissionDenied for an API key whose provider makes administrators."""
        await self._expect(tenant, fields, actor)
        expect_reachable_endpoints(fields, self.destinations)
        if len(await self.all(tenant)) >= MOST:
            raise InvalidState(f"expected at most {MOST} providers")
        provider = Provider(
            tenant_id=tenant.tenant_id,
            id=self.randomness.alphanumeric(_ID_LENGTH),
            fields=fields,
        )
        secret = self._secret(provider, fields, client_secret)
        keyed = await self._keyed(replace(provider, client_secret=secret))
        kept = await self.providers.insert(keyed)
        await self._tell(EventType.CREATED, kept, actor)
        return kept

    async def change(
        self, tenant: Tenant, provider_id: str, fields: ProviderFields, *, client_secret: str, actor: Actor
    ) -> Provider:
        """Change the whole provider; raises NotFound, InvalidArgument, InvalidState, PermissionDenied."""
        before = await self._find(tenant, provider_id)
        await self.administrators.expect_may_vouch(tenant, before.fields, actor)
        await self._expect_no_administrators(tenant, before, actor)
        await self._expect(tenant, fields, actor)
        expect_reachable_endpoints(fields, self.destinations, before=before.fields)
        secret = self._secret(before, fields, client_secret)
        after = await self._keyed(replace(before, fields=fields, client_secret=secret))
        guard = None
        if before.signs_people_in and not after.signs_people_in:
            guard = await self.administrators.guard_ways_in(tenant.tenant_id, before.id, actor)
        try:
            kept = await self.providers.replace(after, guard=guard)
        except Changed as error:
            raise InvalidState("another caller changed the provider in the meantime") from error
        await self._tell(EventType.CHANGED, kept, actor)
        return kept

    async def delete(self, tenant: Tenant, provider_id: str, *, actor: Actor) -> None:
        """Remove the provider and its links to accounts; raises NotFound, InvalidState, PermissionDenied."""
        provider = await self._find(tenant, provider_id)
        await self.administrators.expect_may_vouch(tenant, provider.fields, actor)
        await self._expect_no_administrators(tenant, provider, actor)
        guard = await self.administrators.guard_ways_in(tenant.tenant_id, provider.id, actor)
        try:
            await self.removals.take(PROVIDERS, provider, revision=provider.revision, guard=guard)
        except Changed as error:
            raise InvalidState("another caller changed the provider in the meantime") from error
        await self._tell(EventType.DELETED, provider, actor)

    async def linked(self, tenant: Tenant, provider_id: str) -> Sequence[User]:
        """Return at most 100 users who sign in through the provider; raises NotFound."""
        await self._find(tenant, provider_id)
        links = await self.links.find(tenant.tenant_id, "provider_id", provider_id, most=_MOST_SHOWN)
        found = [await self.users.get(tenant.tenant_id, link.user_id) for link in links]
        return [user for user in found if user is not None]

    async def _find(self, tenant: Tenant, provider_id: str) -> Provider:
        provider = await self.providers.get(tenant.tenant_id, provider_id)
        if provider is None:
            raise NotFound("there is no such provider")
        return provider

    async def _expect_no_administrators(self, tenant: Tenant, provider: Provider, actor: Actor) -> None:
        """Raise PermissionDenied for an API key if an administrator signs in, or may sign in, through the provider.

        An API key could replace the provider by its own and sign in as that administrator.
        """
        if not actor.is_api_key:
            return
        links = await self.links.find(
            tenant.tenant_id, "provider_id", provider.id, most=_MOST_LOOKED_THROUGH + 1
        )
        if len(links) > _MOST_LOOKED_THROUGH:
            most = _MOST_LOOKED_THROUGH
            raise PermissionDenied(f"an API key cannot change a provider with more than {most} people")
        for link in links:
            user = await self.users.get(tenant.tenant_id, link.user_id)
            if user is not None:
                await self.administrators.expect_may_change(user, actor)

    async def _expect(self, tenant: Tenant, fields: ProviderFields, actor: Actor) -> None:
        await self.administrators.expect_may_vouch(tenant, fields, actor)
        expect_provider(
            fields,
            roles=await self.roles.known(tenant, (role for each in fields.mappings for role in each.roles)),
            groups=await self.groups.known(
                tenant, (group for each in fields.mappings for group in each.groups)
            ),
        )

    def _secret(self, provider: Provider, fields: ProviderFields, client_secret: str) -> Sealed | None:
        """Encrypt the new secret, or keep the present one; raises InvalidArgument."""
        if not needs_secret(fields):
            return None
        if client_secret:
            if fields.signed_secret is not None:
                expect_private_key(client_secret)
            return self.secrets.seal(client_secret, provider.tenant_id, provider.id)
        if provider.client_secret is None or is_known_elsewhere(provider.fields, fields):
            raise InvalidArgument("client_secret: expected one for the issuer and its token_endpoint")
        return provider.client_secret

    async def _keyed(self, provider: Provider) -> Provider:
        """Return the provider with a key of ours if it is a SAML provider; a key that exists stays."""
        if provider.fields.saml is None:
            return replace(provider, saml_key=None, saml_certificate="")
        if provider.saml_key is not None:
            return provider
        made = await self.saml_keys.make(provider.tenant_id, provider.id, provider.id)
        return replace(provider, saml_key=made.key, saml_certificate=made.certificate)

    async def _tell(self, event_type: EventType, provider: Provider, actor: Actor) -> None:
        text = f"provider {provider.fields.name}"
        await self.events.emit(provider.tenant_id, event_type, text=text, actor=actor)
