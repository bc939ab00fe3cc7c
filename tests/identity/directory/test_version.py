"""The directory version, shared by the processes of a deployment."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from identity.directory.version import DIRECTORY_VERSIONS, DirectoryVersion, DirectoryVersionRecord
from server.platform.call import TenantId
from server.platform.clock import SystemClock
from server.platform.errors import Unavailable
from server.platform.records.memory import MemoryRecords

# Longer than any wait that ends.
LONG = 20


class Away(MemoryRecords[DirectoryVersionRecord]):
    """Records that are unavailable while `is_away`."""

    is_away = False

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
async def process(store: Store, caught_up: list[str] | None = None) -> AsyncIterator[DirectoryVersion]:
    version = store.version()

    async def catch_up() -> None:
        if caught_up is not None:
            caught_up.append("caught up")

    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(version.run(catch_up))
        yield version
        running.cancel()


async def test_nothing_has_changed_at_first(store: Store) -> None:
    assert await store.version().beyond(0, seconds=0) == 0


async def test_every_change_makes_another_version(store: Store) -> None:
    version = store.version()

    found = []
    for _ in range(3):
        await version.advance()
        found.append(await version.beyond(0, seconds=LONG))

    assert found == [1, 2, 3]


async def test_who_waits_is_told_before_whoever_changed_it_goes_on(store: Store) -> None:
    version = store.version()
    waiting = asyncio.ensure_future(version.beyond(0, seconds=LONG))
    await asyncio.sleep(0)

    await version.advance()

    assert waiting.done()
    assert await waiting == 1


async def test_who_waits_in_vain_is_told_what_is_known(store: Store) -> None:
    version = store.version()
    await version.advance()

    assert await version.beyond(1, seconds=0) == 1


async def test_another_process_hears_of_it_when_it_has_caught_up(store: Store) -> None:
    caught_up: list[str] = []
    async with process(store) as one, process(store, caught_up) as other:
        await one.advance()

        assert await other.beyond(0, seconds=LONG) == 1
        assert caught_up == ["caught up"]


async def test_changes_of_two_processes_are_both_heard_of(store: Store) -> None:
    async with process(store) as one, process(store) as other:
        await asyncio.gather(one.advance(), other.advance(), one.advance(), other.advance())

        assert await one.beyond(0, seconds=LONG) >= 1
        known = await other.beyond(0, seconds=LONG)
        await one.advance()
        assert await other.beyond(known, seconds=LONG) > known


async def test_a_change_stands_although_nobody_can_be_told(store: Store) -> None:
    async with process(store) as one, process(store) as other:
        store.versions.is_away = True
        await one.advance()
        store.versions.is_away = False

        await one.advance()

        assert await other.beyond(0, seconds=LONG) == 1
