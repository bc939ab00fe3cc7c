"""Administration of a tenant's sign-in domains; each change emits an event.

A domain has no effect until it is verified. It stays verified until it is removed; DNS is not queried again.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Protocol

from identity.administration.tenants.domain_config import SignInDomainConfig
from identity.directory.tenants.domain_names import domain_name_of
from identity.directory.tenants.providers import ProviderDirectory
from identity.directory.tenants.sign_in_domain import SIGN_IN_DOMAINS, SignInDomain, Target, domain_id_of
from identity.directory.tenants.tenant_record import DEPLOYMENT, TENANTS
from identity.foundation.events.events import Actor
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant, Tenants
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.errors import AlreadyExists, InvalidArgument, InvalidState, NotFound
from server.platform.records import AlreadyThere, Changed, RecordStore

MOST_DOMAINS = 100

_RANDOM_LENGTH = 32


class TxtRecords(Protocol):
    async def at(self, name: str) -> Collection[bytes]: ...


class Events(Protocol):
    async def emit(self, tenant_id: TenantId, event_type: EventType, *, text: str, actor: Actor) -> None: ...


class DomainAdministration:
    """All methods raise NotFound for an unknown tenant."""

    def __init__(
        self,
        tenants: Tenants,
        providers: ProviderDirectory,
        txt_records: TxtRecords,
        *,
        events: Events,
        store: RecordStore,
        clock: Clock,
        randomness: Randomness,
        config: SignInDomainConfig,
    ) -> None:
        self._tenants = tenants
        self._providers = providers
        self._txt_records = txt_records
        self._events = events
        self._tenant_records = store.of(TENANTS)
        self._domains = store.of(SIGN_IN_DOMAINS)
        self._clock = clock
        self._randomness = randomness
        self._config = config

    async def all(self, tenant_id: str) -> Sequence[SignInDomain]:
        tenant = await self._tenant(tenant_id)
        return await self._domains.find(DEPLOYMENT, "owner", tenant.tenant_id, most=MOST_DOMAINS)

    async def add(self, tenant_id: str, text: str, target: Target, *, actor: Actor) -> SignInDomain:
        """Add an unverified domain; raises InvalidArgument, AlreadyExists, InvalidState."""
        tenant = await self._tenant(tenant_id)
        try:
            name = domain_name_of(text)
        except ValueError as error:
            raise InvalidArgument(str(error)) from error
        await self._expect_providers(tenant, target)
        if len(await self.all(tenant_id)) >= MOST_DOMAINS:
            raise InvalidState(f"the tenant has {MOST_DOMAINS} domains, as many as it may have")
        domain = SignInDomain(
            tenant_id=DEPLOYMENT,
            id=domain_id_of(tenant.tenant_id, name),
            expires_at=self._clock.now() + self._config.pending,
            owner=tenant.tenant_id,
            name=name,
            txt_value=f"gnomon-domain={self._randomness.alphanumeric(_RANDOM_LENGTH)}",
            target=target,
        )
        try:
            kept = await self._domains.insert(domain)
        except AlreadyThere as error:
            raise AlreadyExists("the tenant has this domain already", field="domain") from error
        return await self._told(kept, EventType.CREATED, f"domain {name}", actor)

    async def change_target(self, tenant_id: str, text: str, target: Target, *, actor: Actor) -> SignInDomain:
        """Raises NotFound, InvalidArgument, InvalidState."""
        domain = await self._domain(tenant_id, text)
        await self._expect_providers(await self._tenant(tenant_id), target)
        kept = await self._replaced(replace(domain, target=target))
        return await self._told(kept, EventType.CHANGED, f"domain {kept.name}", actor)

    async def verify(self, tenant_id: str, text: str, *, actor: Actor) -> SignInDomain:
        """Verify a domain by its TXT record; a verified domain stays as it is.

        Raises NotFound, InvalidState without the record, AlreadyExists when it is verified for another tenant,
        Unavailable.
        """
        domain = await self._domain(tenant_id, text)
        if domain.is_verified:
            return domain
        if domain.txt_value.encode() not in await self._txt_records.at(domain.txt_name):
            raise InvalidState(f"expected a TXT record {domain.txt_name} with the domain's value, found none")
        return await self._verified(domain, domain.name, actor)

    async def vouch_for(self, tenant_id: str, text: str, *, actor: Actor) -> SignInDomain:
        """Mark a domain as verified without DNS; raises NotFound, InvalidState, AlreadyExists."""
        domain = await self._domain(tenant_id, text)
        return domain if domain.is_verified else await self._verified(domain, f"{domain.name} vouched", actor)

    async def remove(self, tenant_id: str, text: str, *, actor: Actor) -> None:
        """Raises NotFound."""
        domain = await self._domain(tenant_id, text)
        if await self._domains.take(DEPLOYMENT, domain.id) is not None:
            await self._told(domain, EventType.DELETED, f"domain {domain.name}", actor)

    async def _tenant(self, tenant_id: str) -> Tenant:
        record = await self._tenant_records.get(DEPLOYMENT, tenant_id)
        if record is None or record.deleted_at is not None:
            raise NotFound("there is no such tenant")
        return Tenant(record.own_id, self._tenants.issuer_of(record.own_id, record.hostname))

    async def _domain(self, tenant_id: str, text: str) -> SignInDomain:
        tenant = await self._tenant(tenant_id)
        try:
            domain_id = domain_id_of(tenant.tenant_id, domain_name_of(text))
        except ValueError as error:
            raise NotFound("there is no such domain") from error
        domain = await self._domains.get(DEPLOYMENT, domain_id)
        if domain is None:
            raise NotFound("there is no such domain")
        return domain

    async def _expect_providers(self, tenant: Tenant, target: Target) -> None:
        for provider_id in target.provider_ids:
            if await self._providers.find(tenant, provider_id) is None:
                raise InvalidArgument("target: expected providers of the tenant, found another one")

    async def _verified(self, domain: SignInDomain, text: str, actor: Actor) -> SignInDomain:
        verified = replace(domain, verified_name=domain.name, verified_at=self._clock.now(), expires_at=None)
        return await self._told(await self._replaced(verified), EventType.DOMAIN_VERIFIED, text, actor)

    async def _replaced(self, domain: SignInDomain) -> SignInDomain:
        try:
            return await self._domains.replace(domain)
        except AlreadyThere as error:
            raise AlreadyExists("the domain is verified for another tenant") from error
        except Changed as error:
            raise InvalidState("another caller changed the domain in the meantime") from error

    async def _told(
        self, domain: SignInDomain, event_type: EventType, text: str, actor: Actor
    ) -> SignInDomain:
        await self._events.emit(domain.owner, event_type, text=text, actor=actor)
        return domain
