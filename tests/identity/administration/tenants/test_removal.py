"""Late writes of other processes are removed before the id of a deleted tenant is free again."""

from dataclasses import dataclass

import pytest

from identity.administration.tenants.administration import TenantAdministration, TenantProperties
from identity.administration.tenants.removal import SETTLED_AFTER, TenantRemoval
from identity.directory.client import CLIENTS, Client
from identity.directory.tenants.settings import TenantSettings
from identity.directory.tenants.tenant_directory import TenantDirectory
from identity.directory.version import DirectoryVersion
from identity.foundation.events.event import EventActor
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EVENT_KINDS
from identity.foundation.randomness import SystemRandomness
from identity.foundation.searches import RecordSearch
from identity.foundation.tenants import Tenants
from identity.records import KINDS
from server.platform.call import TenantId
from server.platform.clock import VirtualClock
from server.platform.errors import AlreadyExists, NotFound
from server.platform.records.memory import MemoryRecordStore
from tests.identity.deployment import NOON

ACME, DEFAULT = TenantId("acme"), TenantId("default")
ACTOR = EventActor(kind="user", id="root", name="root@example.com")


@dataclass(frozen=True)
class Process:
    """`administration` manages the tenants of a deployment."""

    clock: VirtualClock
    store: MemoryRecordStore
    tenants: Tenants
    removal: TenantRemoval
    administration: TenantAdministration

    async def create(self) -> None:
        await self.administration.create("acme", TenantProperties(), TenantSettings(), actor=ACTOR)

    async def write_late(self) -> None:
        await self.store.of(CLIENTS).insert(Client(tenant_id=ACME, id="late"))

    def removal_of_another_process(self) -> "Other":
        directory = TenantDirectory(Tenants("https://id.example.com", DEFAULT), self.store, self.clock)
        return Other(directory, TenantRemoval(directory, self.store, KINDS, clock=self.clock))

    async def is_empty(self) -> bool:
        return not any([await self.store.of(kind).page(ACME) for kind in KINDS])


@dataclass(frozen=True)
class Other:
    directory: TenantDirectory
    removal: TenantRemoval


class NoKeys:
    def prepare(self, tenant_id: TenantId) -> None:
        """Signing keys do not matter here."""


@pytest.fixture
async def process() -> Process:
    clock = VirtualClock(pinned=NOON)
    store = MemoryRecordStore(clock)
    tenants = Tenants("https://id.example.com", DEFAULT)
    directory = TenantDirectory(tenants, store, clock)
    removal = TenantRemoval(directory, store, KINDS, clock=clock)
    levels = {kind.type: kind.level for kind in EVENT_KINDS.values()}
    administration = TenantAdministration(
        tenants,
        directory,
        removal,
        keys=NoKeys(),
        version=DirectoryVersion(store),
        events=Events(store, levels, clock=clock, randomness=SystemRandomness()),
        store=store,
        clock=clock,
    )
    await directory.open((DEFAULT,))
    found = Process(clock, store, tenants, removal, administration)
    await found.create()
    return found


async def test_an_id_is_not_free_before_everything_is_gone(process: Process) -> None:
    await process.administration.delete("acme", actor=ACTOR)
    await process.write_late()
    await process.removal.finish()

    with pytest.raises(AlreadyExists):
        await process.create()


async def test_what_was_written_late_goes_and_the_id_is_free(process: Process) -> None:
    await process.administration.delete("acme", actor=ACTOR)
    await process.write_late()

    process.clock.pin(NOON + SETTLED_AFTER)
    await process.removal.finish()

    assert await process.is_empty()
    await process.create()
    assert process.tenants.find("acme").tenant_id == ACME


async def test_a_tenant_that_was_created_again_keeps_its_records(process: Process) -> None:
    late = process.removal_of_another_process()
    await process.administration.delete("acme", actor=ACTOR)
    await late.directory.refresh()
    process.clock.pin(NOON + SETTLED_AFTER)
    await process.removal.finish()
    await process.create()
    await process.write_late()

    await late.removal.finish()

    assert not await process.is_empty()
    assert process.tenants.find("acme").tenant_id == ACME


async def test_nobody_is_served_from_the_deletion_on(process: Process) -> None:
    await process.administration.delete("acme", actor=ACTOR)

    with pytest.raises(NotFound):
        process.tenants.find("acme")
    assert await process.is_empty()
    tenants, _ = await process.administration.page(RecordSearch(), 0, "")
    assert [record.own_id for record in tenants] == [DEFAULT]
