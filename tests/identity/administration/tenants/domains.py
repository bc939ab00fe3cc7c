"""Tenants with sign-in domains, over any store, with configurable DNS and providers."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from identity.administration.tenants.domain_administration import DomainAdministration
from identity.administration.tenants.domain_config import SignInDomainConfig
from identity.directory.tenants.settings import TenantSettings
from identity.directory.tenants.sign_in_domain import Target, TargetType
from identity.directory.tenants.sign_in_targets import SignInTargets
from identity.directory.tenants.tenant_record import DEPLOYMENT, TENANTS, RemovalPhase, TenantRecord
from identity.foundation.events.config import EventsConfig
from identity.foundation.events.event import EVENTS, Event, EventActor
from identity.foundation.events.events import Events
from identity.foundation.randomness import SystemRandomness
from identity.foundation.tenants import Tenant, Tenants
from server.platform.call import TenantId
from server.platform.clock import VirtualClock
from server.platform.records import RecordStore
from server.platform.records.memory import MemoryRecordStore
from tests.identity.deployment import NOON

ACME, DEFAULT, UMBRELLA = TenantId("acme"), TenantId("default"), TenantId("umbrella")
ACTOR = EventActor(kind="user", id="root", name="root@example.com")
PASSWORD = Target()


def at_provider(provider_id: str) -> Target:
    return Target(type=TargetType.PROVIDER, provider_ids=(provider_id,))


def among(*provider_ids: str) -> Target:
    return Target(type=TargetType.CHOICE, provider_ids=provider_ids)


@dataclass(frozen=True)
class Provider:
    id: str
    name: str = "A provider"
    is_enabled: bool = True


@dataclass
class Providers:
    """Upstream providers by tenant and id."""

    known: dict[tuple[TenantId, str], Provider] = field(default_factory=dict)

    def add(self, tenant_id: TenantId, *providers: Provider) -> None:
        self.known |= {(tenant_id, provider.id): provider for provider in providers}

    async def find(self, tenant: Tenant, provider_id: str) -> Provider | None:
        return self.known.get((tenant.tenant_id, provider_id))


@dataclass
class Texts:
    """Published TXT records by name; `asked` are the queried names."""

    published: dict[str, set[bytes]] = field(default_factory=dict)
    asked_for: list[str] = field(default_factory=list)

    async def at(self, name: str) -> set[bytes]:
        self.asked_for.append(name)
        return self.published.get(name, set())


class Domains:
    """Domains of the tenants default, acme and umbrella, unless others are named."""

    def __init__(
        self, store: RecordStore | None = None, others: tuple[TenantId, ...] = (ACME, UMBRELLA)
    ) -> None:
        self.clock = VirtualClock(pinned=NOON)
        self.store = store or MemoryRecordStore(self.clock)
        self.tenants = Tenants("https://id.example.com", DEFAULT, others)
        self.providers = Providers()
        self.texts = Texts()
        self.targets = SignInTargets(self.tenants, self.store, self.providers)
        self.administration = DomainAdministration(
            self.tenants,
            self.providers,
            self.texts,
            events=Events(self.store, EventsConfig().levels, clock=self.clock, randomness=SystemRandomness()),
            store=self.store,
            clock=self.clock,
            randomness=SystemRandomness(),
            config=SignInDomainConfig(),
        )

    async def keep_tenants(self, settings: Mapping[TenantId, TenantSettings] | None = None) -> None:
        for tenant_id in self.tenants.ids:
            record = TenantRecord(
                tenant_id=DEPLOYMENT,
                id=tenant_id,
                name=tenant_id,
                created_at=NOON,
                settings=(settings or {}).get(tenant_id, TenantSettings()),
            )
            await self.store.of(TENANTS).insert(record)

    async def delete(self, tenant_id: TenantId) -> None:
        """Begin the removal of a tenant."""
        record = await self.store.of(TENANTS).get(DEPLOYMENT, tenant_id)
        assert record is not None
        deleted = replace(record, deleted_at=self.clock.now(), removal=RemovalPhase.CLEARING)
        await self.store.of(TENANTS).replace(deleted)

    async def add(self, tenant_id: TenantId, name: str, target: Target = PASSWORD) -> None:
        await self.administration.add(tenant_id, name, target, actor=ACTOR)

    async def publish(self, tenant_id: TenantId, name: str) -> None:
        """Publish the tenant's value in the domain's TXT records."""
        for domain in await self.administration.all(tenant_id):
            if domain.name == name:
                self.texts.published.setdefault(domain.txt_name, set()).add(domain.txt_value.encode())

    async def verify(self, tenant_id: TenantId, name: str) -> None:
        await self.administration.verify(tenant_id, name, actor=ACTOR)

    async def verified(self, tenant_id: TenantId, name: str, target: Target = PASSWORD) -> None:
        await self.add(tenant_id, name, target)
        await self.administration.vouch_for(tenant_id, name, actor=ACTOR)

    async def names(self, tenant_id: TenantId) -> list[str]:
        return [domain.name for domain in await self.administration.all(tenant_id)]

    async def events(self, tenant_id: TenantId) -> list[Event]:
        return list(await self.store.of(EVENTS).page(tenant_id))

    def tenant(self, tenant_id: TenantId) -> Tenant:
        return self.tenants.find(tenant_id)
