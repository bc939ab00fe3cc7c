"""The directory version, a number that grows with every change of permissions and with every revocation.

Caches of the directory drop what a change affects. The process that makes the change does so at once. The others read
the version, and the ids that the latest changes affect, from a shared record every PASS_SECONDS. Calls that change
something at the same time share one write.

A change that could not be stored is stored as soon as the store answers, while the process lives. Until then, and after
the end of the process, the other processes notice it when their cached entries expire.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from itertools import chain

from server.platform.back_off import BackOff, Pauses
from server.platform.call import TenantId
from server.platform.document_revision import DocumentRevision
from server.platform.errors import Unavailable
from server.platform.records import AlreadyThere, Changed, Kind, Record, RecordStore

logger = logging.getLogger(__name__)

PASS_SECONDS = 0.2
# Ids of changes that the shared record holds at most, enough for a thousand revocations a second.
MOST_IDS = 256
_BACK_OFF = BackOff(PASS_SECONDS, 1.0)

_DEPLOYMENT = TenantId("")
_ID = "directory"

EVERYTHING: frozenset[str] = frozenset()
"""The ids of a change that may affect everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The change that made the version `number`: the ids that it affects, none for EVERYTHING."""

    number: int
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryVersionRecord(Record):
    """The revision of the record is the version; `changes` are the latest ones, oldest first.

    A version without its change may affect everything: the previous program version writes none.
    The record of changes to tenants has the ids of the latest changed ones, one for each revision, the latest last.
    """

    changes: tuple[Change, ...] = ()
    tenant_ids: tuple[TenantId, ...] = ()


DIRECTORY_VERSIONS = Kind(DirectoryVersionRecord, "directory_version", owners=())


@dataclass(frozen=True, slots=True)
class Growth:
    """The version, and the ids that have changed since a known version, or EVERYTHING."""

    number: int
    ids: frozenset[str]


class DirectoryVersion:
    def __init__(self, store: RecordStore, revision: DocumentRevision | None = None) -> None:
        """Advance `revision` with every change that may affect everything; it is the revision of published documents."""
        self._records = store.of(DIRECTORY_VERSIONS)
        self._revision = revision or DocumentRevision()
        self._number = 0
        self._changes: tuple[Change, ...] = ()
        self._grown = asyncio.Event()
        self._catch_up: Callable[[], Awaitable[None]] | None = None
        self._writing = asyncio.Lock()
        self._unwritten: list[frozenset[str]] = []
        # Numbers of changes in this process: those made, and those that a write has included, if only in vain.
        self._made = 0
        self._tried = 0
        self._latest: DirectoryVersionRecord | None = None

    async def advance(self, *ids: str) -> None:
        """Increment the version; must be called after every change of permissions, and after every revocation.

        `ids` are those of everything that the change affects: users, clients, sessions, token sets, tokens. Without
        ids, everything may be affected. The change itself is already stored, so a failure is only logged.
        """
        if not ids:
            self._revision.advance()
        self._unwritten.append(frozenset(ids))
        self._made += 1
        number = self._made
        async with self._writing:
            if self._tried < number:
                await self._try_to_write()
        # Waiting tasks of this process run before the caller continues.
        await asyncio.sleep(0)

    async def beyond(self, number: int, *, seconds: float) -> Growth:
        """Return the version once it exceeds `number`, or the present one after `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                while self._number <= number:
                    await self._grown.wait()
        except TimeoutError:
            pass
        return Growth(self._number, _affected(self._changes, number, self._number))

    async def affecting(self, ids: frozenset[str], number: int, *, seconds: float) -> int:
        """Return the version once a change after `number` affects one of these ids, or the present one after `seconds`."""
        clock = asyncio.get_running_loop().time
        until = clock() + seconds
        growth = await self.beyond(number, seconds=seconds)
        while growth.ids and growth.ids.isdisjoint(ids) and (left := until - clock()) > 0:
            growth = await self.beyond(growth.number, seconds=left)
        return growth.number

    async def run(self, catch_up: Callable[[], Awaitable[None]]) -> None:
        """Poll for changes by other processes, and store those that were not stored yet, until cancelled.

        `catch_up` runs before waiting tasks learn of another process's change that may affect everything.
        """
        self._catch_up = catch_up
        pauses = Pauses(_BACK_OFF)
        while True:
            try:
                await self._write_rest()
                await self._refresh()
            except Unavailable:
                logger.warning(
                    "the directory version was not read; changes by other processes are noticed late"
                )
                await pauses.after_failure()
            else:
                pauses.succeeded()
                await asyncio.sleep(PASS_SECONDS)

    async def _try_to_write(self) -> None:
        try:
            await self._write()
        except Unavailable:
            logger.warning("the directory version is not stored yet; other processes notice a change late")

    async def _write_rest(self) -> None:
        if self._unwritten:
            async with self._writing:
                await self._write()

    async def _write(self) -> None:
        """Store all changes that are not stored yet as one; raises Unavailable."""
        self._tried = self._made
        unwritten = tuple(self._unwritten)
        if not unwritten:
            return
        stored = await self._stored(_union(unwritten))
        del self._unwritten[: len(unwritten)]
        await self._know(stored, others=stored.revision - 1)

    async def _refresh(self) -> None:
        kept = await self._records.get(_DEPLOYMENT, _ID)
        if kept is not None:
            await self._know(kept, others=kept.revision)

    async def _stored(self, ids: frozenset[str]) -> DirectoryVersionRecord:
        """Return the record with a version for this change, after those of other processes."""
        latest = self._latest or await self._records.get(_DEPLOYMENT, _ID)
        while True:
            before = latest or DirectoryVersionRecord(tenant_id=_DEPLOYMENT, id=_ID)
            change = Change(number=before.revision + 1, ids=tuple(sorted(ids)))
            after = replace(before, changes=_bounded((*before.changes, change)))
            try:
                return await (self._records.insert(after) if latest is None else self._records.replace(after))
            except (AlreadyThere, Changed):
                latest = await self._records.get(_DEPLOYMENT, _ID)

    async def _know(self, record: DirectoryVersionRecord, *, others: int) -> None:
        """Make a version known, once this process has caught up with what others changed until the version `others`."""
        if others > self._number and not _affected(record.changes, self._number, others):
            if self._catch_up is None:
                # The loop begins with it.
                return
            await self._catch_up()
        if record.revision <= self._number:
            return
        if not _affected(record.changes, self._number, record.revision):
            self._revision.advance()
        self._latest, self._number, self._changes = record, record.revision, record.changes
        self._grown.set()
        self._grown = asyncio.Event()


def _affected(changes: Iterable[Change], known: int, number: int) -> frozenset[str]:
    """Return the ids of all changes after a known version; EVERYTHING if one of them is not among `changes`."""
    since = [frozenset(change.ids) for change in changes if known < change.number <= number]
    return _union(since) if len(since) == number - known else EVERYTHING


def _union(changes: Iterable[frozenset[str]]) -> frozenset[str]:
    each = tuple(changes)
    return EVERYTHING if EVERYTHING in each else frozenset(chain.from_iterable(each))


def _bounded(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """Return the latest changes with MOST_IDS ids at most; earlier ones than one of EVERYTHING tell nothing more."""
    kept: list[Change] = []
    room = MOST_IDS
    for change in reversed(changes):
        room -= max(1, len(change.ids))
        if room < 0:
            break
        kept.append(change)
        if not change.ids:
            break
    return tuple(reversed(kept))
