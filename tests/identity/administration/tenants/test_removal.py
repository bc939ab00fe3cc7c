"""Late writes of other processes are removed before the id of a deleted tenant is free again."""

from dataclasses import dataclass, replace

import pytest

from identity.administration.tenants.administration import TenantAdministration, TenantProperties
from identity.administration.tenants.removal import SETTLED_AFTER, TenantRemoval
from identity.directory.client import CLIENTS, Client
from identity.directory.labels import GROUPS, Group
from identity.directory.tenants.settings import TenantSettings
from identity.directory.tenants.tenant_directory import TenantDirectory
from identity.directory.tenants.tenant_record import DEPLOYMENT, TENANTS, RemovalPhase, TenantRecord
from identity.directory.version import DirectoryVersion
from identity.foundation.events.event import EventActor
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EVENT_KINDS
from identity.foundation.randomness import SystemRandomness
from identity.foundation.searches import RecordSearch
from identity.foundation.tenants import Tenants
from identity.records import KINDS
from server.platform.audit import AuditNote
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
    notes: list[AuditNote]

    async def create(self) -> None:
        await self.administration.create("acme", TenantProperties(), TenantSettings(), actor=ACTOR)

    async def write_late(self) -> None:
        await self.store.of(CLIENTS).insert(Client(tenant_id=ACME, id="late"))

    def removal_of_another_process(self) -> "Other":
        directory = TenantDirectory(Tenants("https://id.example.com", DEFAULT), self.store, self.clock)
        return Other(directory, TenantRemoval(directory, self.store, KINDS, clock=self.clock))

    def removal_with_an_engine(self) -> TenantRemoval:
        directory = TenantDirectory(self.tenants, self.store, self.clock)
        return TenantRemoval(directory, self.store, KINDS, clock=self.clock, has_engine=True)

    async def deleted(self) -> TenantRecord:
        record = await self.store.of(TENANTS).get(DEPLOYMENT, ACME)
        assert record is not None
        return record

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
    notes: list[AuditNote] = []
    store = MemoryRecordStore(clock, notes.append)
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
    found = Process(clock, store, tenants, removal, administration, notes)
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


async def test_a_process_that_acts_late_removes_no_record_of_a_successor(process: Process) -> None:
    late = process.removal_of_another_process()
    await process.administration.delete("acme", actor=ACTOR)
    process.clock.pin(NOON + SETTLED_AFTER)
    await process.removal.finish()
    await process.create()
    await process.write_late()

    await late.removal.remove_all_of(ACME)

    assert not await process.is_empty()


async def test_a_process_that_acts_late_does_not_remove_a_successor(process: Process) -> None:
    await process.administration.delete("acme", actor=ACTOR)
    former = await process.deleted()
    process.clock.pin(NOON + SETTLED_AFTER)
    await process.removal.finish()
    await process.create()
    await process.administration.delete("acme", actor=ACTOR)

    await process.removal_with_an_engine().note(
        ACME, former.removal_number, RemovalPhase.CLEARING, rows_left=0, is_done=True
    )

    assert (await process.deleted()).removal is RemovalPhase.CLEARING


async def test_with_an_engine_an_id_is_free_after_the_partitions_have_released_it(process: Process) -> None:
    removal = process.removal_with_an_engine()
    await process.administration.delete("acme", actor=ACTOR)
    number = (await process.deleted()).removal_number
    process.clock.pin(NOON + SETTLED_AFTER)

    phases = []
    for phase in (
        RemovalPhase.RELEASING,
        RemovalPhase.CLEARING,
        RemovalPhase.CLEARING,
        RemovalPhase.RELEASING,
    ):
        with pytest.raises(AlreadyExists):
            await process.create()
        if await process.is_empty():
            await process.write_late()
        await removal.note(ACME, number, phase, rows_left=0, is_done=True)
        phases.append([record.removal for record in await removal.under_way()])

    assert phases == [[RemovalPhase.CLEARING], *[[RemovalPhase.RELEASING]] * 2, []]
    assert await process.is_empty()
    await process.create()


async def test_a_report_before_the_removal_is_settled_ends_nothing(process: Process) -> None:
    removal = process.removal_with_an_engine()
    await process.administration.delete("acme", actor=ACTOR)
    number = (await process.deleted()).removal_number

    await removal.note(ACME, number, RemovalPhase.CLEARING, rows_left=0, is_done=True)

    assert (await process.deleted()).removal is RemovalPhase.CLEARING


async def test_with_an_engine_the_provider_alone_does_not_end_a_removal(process: Process) -> None:
    directory = TenantDirectory(process.tenants, process.store, process.clock)
    removal = TenantRemoval(directory, process.store, KINDS, clock=process.clock, has_engine=True)
    await process.administration.delete("acme", actor=ACTOR)
    await directory.refresh()
    process.clock.pin(NOON + 2 * SETTLED_AFTER)

    await removal.finish()

    assert (await process.deleted()).removal is RemovalPhase.CLEARING


async def test_what_is_left_is_shown_and_the_deleted_tenant_cannot_be_changed(process: Process) -> None:
    removal = process.removal_with_an_engine()
    await process.administration.delete("acme", actor=ACTOR)
    number = (await process.deleted()).removal_number

    await removal.note(ACME, number, RemovalPhase.CLEARING, rows_left=7, is_done=False)

    assert (await process.administration.shown("acme")).rows_left == 7
    with pytest.raises(NotFound):
        await process.administration.delete("acme", actor=ACTOR)
    with pytest.raises(NotFound):
        await process.administration.change("acme", TenantProperties(), actor=ACTOR)


async def test_a_deletion_of_an_earlier_version_becomes_a_removal(process: Process) -> None:
    await process.administration.delete("acme", actor=ACTOR)
    earlier = replace(await process.deleted(), removal=RemovalPhase.NONE)
    await process.store.of(TENANTS).replace(earlier)
    other = process.removal_of_another_process()
    await other.directory.refresh()

    await other.removal.finish()

    assert [record.id for record in await other.removal.under_way()] == ["acme"]


async def test_the_audit_entry_about_a_deletion_does_not_go_with_the_tenant(process: Process) -> None:
    note = AuditNote(
        tenant_id=ACME,
        timestamp=NOON,
        operation_type="DELETE",
        actor_type="CLIENT",
        actor_id="service",
        entity_type="TENANT",
        entity_id="acme",
        related_entity_type=None,
        related_entity_id=None,
        request_id="r-1",
    )

    await process.administration.delete("acme", actor=ACTOR, note=note)

    assert process.notes == [replace(note, tenant_id=DEFAULT)]


async def test_whoever_was_admitted_to_a_removed_tenant_is_not_in_its_successor(process: Process) -> None:
    clients, groups = process.store.of(CLIENTS), process.store.of(GROUPS)
    await clients.insert(Client(tenant_id=DEFAULT, id="worker", tenant_ids=(ACME, TenantId("other"))))
    await groups.insert(Group(tenant_id=DEFAULT, id="g", name="staff", tenant_ids=(ACME,)))

    await process.administration.delete("acme", actor=ACTOR)

    worker, staff = await clients.get(DEFAULT, "worker"), await groups.get(DEFAULT, "g")
    assert worker is not None
    assert worker.tenant_ids == ("other",)
    assert staff is not None
    assert staff.tenant_ids == ()


async def test_a_client_with_no_other_tenant_is_disabled_rather_than_one_of_the_default_tenant(
    process: Process,
) -> None:
    clients = process.store.of(CLIENTS)
    await clients.insert(Client(tenant_id=DEFAULT, id="worker", tenant_ids=(ACME,)))

    await process.administration.delete("acme", actor=ACTOR)

    worker = await clients.get(DEFAULT, "worker")
    assert worker is not None
    assert (worker.tenant_ids, worker.is_enabled) == ((), False)


async def test_members_of_a_successor_stay_when_a_removal_is_late(process: Process) -> None:
    clients = process.store.of(CLIENTS)
    await clients.insert(Client(tenant_id=DEFAULT, id="worker", tenant_ids=(ACME,)))

    await process.removal.remove_all_of(ACME)

    worker = await clients.get(DEFAULT, "worker")
    assert worker is not None
    assert worker.tenant_ids == (ACME,)
