"""The directory version, shared by the processes of a deployment."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest

from identity.directory.version import (
    DIRECTORY_VERSIONS,
    EVERYTHING,
    MOST_IDS,
    DirectoryVersion,
    DirectoryVersionRecord,
    Growth,
)
from server.platform.audit import AuditNote
from server.platform.call import TenantId
from server.platform.clock import SystemClock
from server.platform.document_revision import DocumentRevision
from server.platform.errors import Unavailable
from server.platform.records.memory import MemoryRecords
from tests.waits import ticks

# Longer than any wait that ends.
LONG = 20


class Away(MemoryRecords[DirectoryVersionRecord]):
    """Records that are unavailable while `is_away`; as in a database, others go on while one is written."""

    is_away = False

    async def insert(
        self, record: DirectoryVersionRecord, *, note: AuditNote | None = None
    ) -> DirectoryVersionRecord:
        await asyncio.sleep(0)
        return await super().insert(record, note=note)

    async def replace(
        self, record: DirectoryVersionRecord, *, note: AuditNote | None = None
    ) -> DirectoryVersionRecord:
        await asyncio.sleep(0)
        return await super().replace(record, note=note)

    async def get(self, tenant_id: TenantId, record_id: str) -> DirectoryVersionRecord | None:
        if self.is_away:
            raise Unavailable("the store is away")
        return await super().get(tenant_id, record_id)


@dataclass(frozen=True)
class Store:
    versions: Away = field(default_factory=lambda: Away(DIRECTORY_VERSIONS, SystemClock()))

    def of(self, _: object) -> Away:
        return self.versions

    def version(self) -> DirectoryVersion:
        """Return the version object of another process."""
        return DirectoryVersion(self)  # type: ignore[arg-type]  # of versions alone


@pytest.fixture
def store() -> Store:
    return Store()


@asynccontextmanager
async def process(
    store: Store, caught_up: list[str] | None = None, version: DirectoryVersion | None = None
) -> AsyncIterator[DirectoryVersion]:
    version = version or store.version()

    async def catch_up() -> None:
        if caught_up is not None:
            caught_up.append("caught up")

    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(version.run(catch_up))
        yield version
        running.cancel()


async def test_nothing_has_changed_at_first(store: Store) -> None:
    assert (await store.version().beyond(0, seconds=0)).number == 0


async def test_every_change_makes_another_version(store: Store) -> None:
    version = store.version()

    found = []
    for _ in range(3):
        await version.advance()
        found.append((await version.beyond(0, seconds=LONG)).number)

    assert found == [1, 2, 3]


async def test_who_waits_is_told_before_whoever_changed_it_goes_on(store: Store) -> None:
    version = store.version()
    waiting = asyncio.ensure_future(version.beyond(0, seconds=LONG))
    await asyncio.sleep(0)

    await version.advance()

    assert waiting.done()
    assert (await waiting).number == 1


async def test_who_waits_in_vain_is_told_what_is_known(store: Store) -> None:
    version = store.version()
    await version.advance()

    assert (await version.beyond(1, seconds=0)).number == 1


async def test_another_process_hears_of_it_when_it_has_caught_up(store: Store) -> None:
    caught_up: list[str] = []
    async with process(store) as one, process(store, caught_up) as other:
        await one.advance()

        assert (await other.beyond(0, seconds=LONG)).number == 1
        assert caught_up == ["caught up"]


async def test_a_change_of_its_own_hides_no_change_of_another_process(store: Store) -> None:
    caught_up: list[str] = []
    async with process(store) as other, process(store, caught_up) as one:
        await ticks(10)
        await other.advance()

        await one.advance()

        assert caught_up == ["caught up"]


async def test_changes_of_two_processes_are_both_heard_of(store: Store) -> None:
    async with process(store) as one, process(store) as other:
        await asyncio.gather(one.advance(), other.advance(), one.advance(), other.advance())

        assert (await one.beyond(0, seconds=LONG)).number >= 1
        known = (await other.beyond(0, seconds=LONG)).number
        await one.advance()
        assert (await other.beyond(known, seconds=LONG)).number > known


async def test_a_change_stands_although_nobody_can_be_told(store: Store) -> None:
    async with process(store) as one, process(store) as other:
        store.versions.is_away = True
        await one.advance()
        store.versions.is_away = False

        await one.advance()

        assert (await other.beyond(0, seconds=LONG)).number == 1


async def test_a_change_is_stored_as_soon_as_the_store_answers(store: Store) -> None:
    async with process(store) as one, process(store) as other:
        store.versions.is_away = True
        await one.advance("ada")
        store.versions.is_away = False

        assert (await other.beyond(0, seconds=LONG)).ids == {"ada"}


async def test_another_process_learns_what_changed(store: Store) -> None:
    async with process(store) as one, process(store) as other:
        await one.advance("ada", "app")
        await one.advance("grace")

        assert await other.beyond(1, seconds=LONG) == Growth(2, frozenset({"grace"}))
        assert await other.beyond(0, seconds=LONG) == Growth(2, frozenset({"ada", "app", "grace"}))


async def test_a_change_without_ids_may_affect_everything(store: Store) -> None:
    version = store.version()

    await version.advance("ada")
    await version.advance()
    await version.advance("grace")

    found = [(await version.beyond(number, seconds=LONG)).ids for number in (0, 1, 2)]
    assert found == [EVERYTHING, EVERYTHING, {"grace"}]


async def test_the_previous_program_version_may_have_changed_everything(store: Store) -> None:
    version = store.version()
    await version.advance("ada")
    kept = await store.versions.get(TenantId(""), "directory")
    assert kept is not None

    await store.versions.replace(replace(kept, changes=()))
    async with process(store, version=version):
        assert await version.beyond(1, seconds=LONG) == Growth(2, EVERYTHING)
        await version.advance("grace")

        assert (await version.beyond(1, seconds=LONG)).ids == EVERYTHING
        assert (await version.beyond(2, seconds=LONG)).ids == {"grace"}


async def test_a_process_that_is_too_far_behind_learns_that_everything_may_have_changed(store: Store) -> None:
    version = store.version()

    for number in range(MOST_IDS + 1):
        await version.advance(f"user-{number}")

    kept = await store.versions.get(TenantId(""), "directory")
    assert kept is not None
    assert len(kept.changes) == MOST_IDS
    assert (await version.beyond(0, seconds=LONG)).ids == EVERYTHING
    assert (await version.beyond(1, seconds=LONG)).ids == {
        f"user-{number}" for number in range(1, MOST_IDS + 1)
    }


async def test_changes_at_the_same_time_share_a_write(store: Store) -> None:
    version = store.version()
    users = [f"user-{number}" for number in range(100)]

    await asyncio.gather(*(version.advance(user) for user in users))

    growth = await version.beyond(0, seconds=LONG)
    assert growth.ids == set(users)
    assert growth.number < 3


async def test_changes_of_many_processes_are_all_told(store: Store) -> None:
    versions = [store.version() for _ in range(5)]
    async with AsyncExitStack() as stack:
        for version in versions:
            await stack.enter_async_context(process(store, version=version))

        await asyncio.gather(*(version.advance(f"user-{at}") for at, version in enumerate(versions * 4)))

        kept = await store.versions.get(TenantId(""), "directory")
        assert kept is not None
        found = [await version.beyond(kept.revision - 1, seconds=LONG) for version in versions]
        assert {growth.number for growth in found} == {kept.revision}
        assert {each for change in kept.changes for each in change.ids} == {f"user-{at}" for at in range(20)}


async def test_a_process_catches_up_with_others_before_its_own_change_is_known(store: Store) -> None:
    caught_up: list[str] = []
    async with process(store, caught_up) as one:
        other = store.version()
        # The loop has read the store and sleeps, so that only the change itself can notice the other one.
        await one.advance("ada")
        await other.advance()

        await one.advance("grace")

        assert caught_up == ["caught up"]
        assert await one.beyond(1, seconds=0) == Growth(3, EVERYTHING)


async def test_revocations_of_others_need_no_catching_up(store: Store) -> None:
    caught_up: list[str] = []
    async with process(store) as one, process(store, caught_up) as other:
        await one.advance("ada")

        assert (await other.beyond(0, seconds=LONG)).ids == {"ada"}
        assert caught_up == []


async def test_only_changes_of_everything_make_published_documents_outdated(store: Store) -> None:
    revision = DocumentRevision()
    version = DirectoryVersion(store, revision)  # type: ignore[arg-type]  # of versions alone

    await version.advance("ada")
    after_one = revision.number
    await version.advance()

    assert after_one == 0
    assert revision.number > 0


async def test_who_depends_on_something_waits_for_a_change_that_affects_it(store: Store) -> None:
    version = store.version()
    await version.advance("ada")
    waiting = asyncio.ensure_future(version.affecting(frozenset({"grace"}), 1, seconds=LONG))

    await version.advance("ada")
    await ticks(10)
    is_waiting = not waiting.done()
    await version.advance("grace", "app")

    assert is_waiting
    assert await waiting == 3


async def test_a_change_of_everything_affects_everybody(store: Store) -> None:
    version = store.version()
    await version.advance("ada")
    waiting = asyncio.ensure_future(version.affecting(frozenset({"grace"}), 1, seconds=LONG))

    await version.advance()

    assert await waiting == 2
