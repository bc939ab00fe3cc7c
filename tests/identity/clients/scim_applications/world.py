"""A tenant with users, groups and SCIM applications, whose services are in memory."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from identity.access.administrators import Administrators
from identity.access.last_administrator import LastAdministrator
from identity.clients.relying_parties import RelyingParties
from identity.clients.scim_applications.administration import (
    ScimApplicationAdministration,
    ScimFields,
    ScimStatus,
)
from identity.clients.scim_applications.application import (
    SCIM_APPLICATIONS,
    SCIM_RESOURCES,
    ScimApplication,
)
from identity.clients.scim_applications.synchronization import (
    ScimSynchronization,
)
from identity.clients.scim_applications.tokens import ScimTokens
from identity.crypto.keys.master_keys import MasterKeys
from identity.delivery.http.destinations import Destinations
from identity.directory.client import CLIENTS, Client
from identity.directory.labels import GROUPS, Group
from identity.directory.standings import Standings
from identity.directory.subjects import Subjects
from identity.directory.user import USERS, User
from identity.foundation.events.config import EventsConfig
from identity.foundation.events.event import EVENTS
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.events.news import SETTLES_IN
from identity.foundation.removals import Removals
from identity.foundation.tenants import Tenant, Tenants
from identity.records import KINDS
from server.platform.call import TenantId
from server.platform.clock import VirtualClock
from server.platform.records import RecordStore
from server.platform.records.memory import MemoryRecordStore
from tests.identity.administration.administration import ROOT as ADMINISTRATOR
from tests.identity.browsers import NOON, CountedRandomness
from tests.identity.clients.scim_applications.fake_service import FakeService, FakeServices

BASE, OTHER_BASE = "https://app.example.com/scim/v2", "https://other.example.com/scim"
TENANTS = Tenants("https://id.example.com", TenantId("default"), (TenantId("acme"), TenantId("umbrella")))
ACME, UMBRELLA = TENANTS.find("acme"), TENANTS.find("umbrella")
FIELDS = ScimFields(
    base_uri=BASE, bearer_token="t0ken", sync_groups=False, group_sync_prefix="", is_enabled=True
)
TABLES = "identity.scim_application, identity.scim_resource, identity.event, identity.client"


@dataclass
class World:
    store: RecordStore
    clock: VirtualClock
    services: FakeServices = field(default_factory=FakeServices)

    def __post_init__(self) -> None:
        self.service, self.other = FakeService(), FakeService()
        self.services.services |= {BASE: self.service, OTHER_BASE: self.other}
        randomness = CountedRandomness()
        keys = MasterKeys({"one": b"1" * 32}, "one", randomness=randomness)
        self.tokens = ScimTokens(self.store, keys)
        sources: dict[str, Any] = {"clock": self.clock, "randomness": randomness}
        self.events = Events(self.store, EventsConfig().levels, **sources)
        self.administration = ScimApplicationAdministration(
            applications=self.store.of(SCIM_APPLICATIONS),
            removals=Removals(self.store, KINDS, clock=self.clock, randomness=randomness),
            resources=self.store.of(SCIM_RESOURCES),
            stored_events=self.store.of(EVENTS),
            tokens=self.tokens,
            exchange=self.services,
            destinations=Destinations(),
            relying_parties=RelyingParties(
                self.store.of(CLIENTS),
                Administrators(
                    Standings(self.store, TENANTS),
                    LastAdministrator(self.store, TENANTS, self.clock, emails=()),
                ),
            ),
            events=self.events,
            **sources,
        )
        self.synchronization = self.process()
        self.events.listen(self.synchronization.news)

    def process(self) -> ScimSynchronization:
        return ScimSynchronization(
            self.store,
            self.tokens,
            self.services,
            subjects=Subjects(lambda purpose: purpose.encode().ljust(32, b"0")[:32]),
            events=self.events,
            clock=self.clock,
            randomness=CountedRandomness(),
        )

    async def application(self, client_id: str = "app", tenant: Tenant = ACME, **fields: Any) -> ScimStatus:
        if await self.store.of(CLIENTS).get(tenant.tenant_id, client_id) is None:
            await self.client(client_id, tenant)
        return await self.administration.put(
            tenant, client_id, replace(FIELDS, **fields), actor=ADMINISTRATOR
        )

    async def client(self, client_id: str, tenant: Tenant = ACME, **fields: Any) -> None:
        client = Client(tenant_id=tenant.tenant_id, id=client_id, name=client_id, **fields)
        await self.store.of(CLIENTS).insert(client)

    async def status(self, client_id: str = "app") -> ScimStatus:
        return await self.administration.find(ACME, client_id)

    async def user(self, name: str, tenant: Tenant = ACME, *, says: bool = True, **fields: Any) -> User:
        """Create a user, and store the event unless it is lost."""
        user = User(tenant_id=tenant.tenant_id, id=f"id-{name}", email=f"{name}@example.com", **fields)
        kept = await self.store.of(USERS).insert(user)
        if says:
            await self.says(kept, EventType.NEW_USER_REGISTERED)
        return kept

    async def change(self, user: User, *, says: bool = True, **fields: Any) -> User:
        current = await self.store.of(USERS).get(user.tenant_id, user.id)
        assert current is not None
        kept = await self.store.of(USERS).replace(replace(current, **fields))
        if says:
            await self.says(kept, EventType.CHANGED)
        return kept

    async def delete(self, user: User, *, says: bool = True) -> None:
        await self.store.of(USERS).take(user.tenant_id, user.id)
        if says:
            await self.says(user, EventType.DELETED)

    async def says(self, user: User, event_type: EventType) -> None:
        self.clock.advance(timedelta(milliseconds=1))
        await self.events.emit(user.tenant_id, event_type, text=f"user {user.email}", user_id=user.id)

    async def group(self, name: str, **fields: Any) -> Group:
        group = Group(tenant_id=ACME.tenant_id, id=f"g-{name}", name=name, **fields)
        kept = await self.store.of(GROUPS).insert(group)
        await self.events.emit(ACME.tenant_id, EventType.CREATED, text=f"group {name}")
        return kept

    async def passes(self, period: timedelta, *, step: timedelta = timedelta(seconds=20)) -> None:
        """Let time pass, and visit what is due at each step."""
        end = self.clock.now() + period
        while self.clock.now() < end:
            self.clock.advance(step)
            await self.visits()

    async def visits(self) -> int:
        """Visit what is due, and return the number of visits."""
        due = await self.due()
        for tenant, application in due:
            await self.synchronization.visit(tenant, application)
        return len(due)

    async def settles(self) -> None:
        await self.passes(SETTLES_IN * 2)

    async def due(self) -> Sequence[tuple[Tenant, ScimApplication]]:
        return await self.synchronization.due(lambda: (ACME, UMBRELLA))

    def names(self) -> list[str]:
        return sorted(self.service.names())


def in_memory() -> World:
    clock = VirtualClock(pinned=NOON)
    return World(MemoryRecordStore(clock), clock)
