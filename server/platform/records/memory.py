"""Records in memory, which end with the process."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from operator import attrgetter
from typing import Any, Generic

from server.platform.audit import AuditNote
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.query import Page, Query, evaluate
from server.platform.records.port import (
    REMOVALS,
    AlreadyThere,
    Changed,
    Condition,
    Guard,
    Kind,
    R,
    Records,
    Removal,
)
from server.platform.records.texts import expect_that_can_be_kept, expect_unique_texts, texts_of

Noted = Callable[[AuditNote], None]


def _unnoted(_: AuditNote) -> None:
    """Ignore the note: embedded mode keeps no audit log."""


class MemoryRecordStore:
    """A record store in memory; `noted` receives the audit notes of changes."""

    def __init__(self, clock: Clock, noted: Noted = _unnoted) -> None:
        self._clock = clock
        self._noted = noted
        self._kept: dict[str, MemoryRecords[Any]] = {}

    def of(self, kind: Kind[R]) -> Records[R]:
        return self._of(kind)

    def _of(self, kind: Kind[R]) -> "MemoryRecords[R]":
        if kind.name not in self._kept:
            expect_unique_texts(kind)
            self._kept[kind.name] = MemoryRecords(kind, self._clock, self._noted, of=self._of)
        return self._kept[kind.name]

    async def note(self, note: AuditNote) -> None:
        self._noted(note)


class MemoryRecords(Generic[R]):
    """Records of one kind, indexed by every text that finds them, and by tenant and scheduled time.

    `of` returns the records of another kind in the same store.
    """

    def __init__(
        self,
        kind: Kind[R],
        clock: Clock,
        noted: Noted = _unnoted,
        *,
        of: Callable[[Kind[Any]], "MemoryRecords[Any]"] | None = None,
    ) -> None:
        self._kind = kind
        self._of: Callable[[Kind[Any]], MemoryRecords[Any]] = of or (lambda _kind: self)
        self._fields = (*kind.unique, *kind.indexed, *kind.owner_paths)
        self._clock = clock
        self._noted = noted
        self._found_by = (*self._fields, *kind.derived)
        self._records: dict[tuple[TenantId, str], R] = {}
        self._ids: dict[TenantId, list[str]] = {}
        self._index: dict[tuple[TenantId, str, str], set[str]] = {}
        self._schedule: dict[TenantId, list[tuple[datetime, str]]] = {}

    async def get(self, tenant_id: TenantId, record_id: str) -> R | None:
        return self._live(tenant_id, record_id)

    async def find(self, tenant_id: TenantId, field: str, text: str, *, most: int = 1000) -> Sequence[R]:
        ids = [text] if field == "id" else sorted(self._index.get((tenant_id, field, text), ()))
        found = (self._live(tenant_id, record_id) for record_id in ids)
        return [record for record in found if record is not None][:most]

    async def find_any(self, tenant_id: TenantId, field: str, texts: Collection[str]) -> Sequence[R]:
        places = ((tenant_id, field, text) for text in texts)
        indexed = (record_id for place in places for record_id in self._index.get(place, ()))
        ids = sorted(set(texts if field == "id" else indexed))
        found = (self._live(tenant_id, record_id) for record_id in ids)
        return [record for record in found if record is not None]

    async def due(self, tenant_id: TenantId, now: datetime, *, most: int) -> Sequence[R]:
        return list(islice(self._due(tenant_id, now), most))

    async def due_tenants(self, now: datetime) -> Sequence[TenantId]:
        return [tenant_id for tenant_id in sorted(self._schedule) if any(self._due(tenant_id, now))]

    async def page(self, tenant_id: TenantId, *, after: str = "", most: int = 100) -> Sequence[R]:
        ids = self._ids.get(tenant_id, [])
        later = islice(ids, bisect_right(ids, after), None)
        found = (self._live(tenant_id, record_id) for record_id in later)
        return list(islice((record for record in found if record is not None), most))

    async def search(self, tenant_id: TenantId, query: Query) -> Page[R]:
        own = (self._live(tenant_id, record_id) for record_id in self._ids.get(tenant_id, ()))
        key = attrgetter(query.sort[-1].field.name)
        return evaluate(sorted((record for record in own if record is not None), key=key), query)

    async def matches(self, tenant_id: TenantId, query: Query) -> Sequence[R]:
        return (await self.search(tenant_id, query)).items

    async def insert(self, record: R, *, note: AuditNote | None = None) -> R:
        expect_that_can_be_kept(record, self._fields)
        if self._live(record.tenant_id, record.id) is not None:
            raise AlreadyThere(self._kind.name, "id")
        self._expect_unique(record)
        return self._put(replace(record, revision=1), note)

    async def insert_all(self, records: Sequence[R]) -> Sequence[R]:
        for record in records:
            expect_that_can_be_kept(record, self._fields)
        free = (record for record in records if self._is_free(record))
        return [self._put(replace(record, revision=1), None) for record in free]

    async def replace(self, record: R, *, note: AuditNote | None = None, guard: Guard | None = None) -> R:
        expect_that_can_be_kept(record, self._fields)
        self._expect_unchanged(record)
        self._expect_unique(record)
        if guard is not None:
            await self._of(guard.kind).replace(guard.record)
        return self._put(replace(record, revision=record.revision + 1), note)

    async def replace_all(self, records: Sequence[R]) -> int:
        replaced = 0
        for record in records:
            expect_that_can_be_kept(record, self._fields)
        for record in records:
            there = self._live(record.tenant_id, record.id)
            if there is not None and there.revision == record.revision:
                self._put(replace(record, revision=record.revision + 1), None)
                replaced += 1
        return replaced

    async def take(
        self,
        tenant_id: TenantId,
        record_id: str,
        *,
        note: AuditNote | None = None,
        revision: int | None = None,
        removal: Removal | None = None,
        guard: Guard | None = None,
    ) -> R | None:
        record = self._live(tenant_id, record_id)
        if revision is not None and (record is None or record.revision != revision):
            raise Changed
        if record is not None:
            if guard is not None:
                await self._of(guard.kind).replace(guard.record)
            if removal is not None:
                self._of(REMOVALS).put(removal)
            self._drop(record)
            self._note(note)
        return record

    def put(self, record: R) -> None:
        """Insert a record with an id that is not there."""
        expect_that_can_be_kept(record, self._fields)
        self._put(replace(record, revision=1), None)

    async def remove(
        self,
        tenant_id: TenantId,
        field: str,
        text: str,
        *,
        most: int | None = None,
        condition: Condition | None = None,
    ) -> int:
        if not self._holds(condition):
            return 0
        found = await self.find(tenant_id, field, text, most=len(self._records) if most is None else most)
        for record in found:
            self._drop(record)
        return len(found)

    async def remove_some(self, tenant_id: TenantId, *, most: int, condition: Condition | None = None) -> int:
        if not self._holds(condition):
            return 0
        found = [self._records[tenant_id, record_id] for record_id in self._ids.get(tenant_id, ())[:most]]
        for record in found:
            self._drop(record)
        return len(found)

    def _holds(self, condition: Condition | None) -> bool:
        if condition is None:
            return True
        place = condition.tenant_id, condition.record_id
        return self._of(condition.kind).has_text(*place, condition.field)

    def has_text(self, tenant_id: TenantId, record_id: str, field: str) -> bool:
        """Whether there is a record with this id that has a text in the field."""
        record = self._live(tenant_id, record_id)
        return record is not None and bool(texts_of(record, field))

    async def remove_expired(self, *, most: int = 1000) -> int:
        expired = [record for record in self._records.values() if self._is_expired(record)][:most]
        for record in expired:
            self._drop(record)
        return len(expired)

    def _due(self, tenant_id: TenantId, now: datetime) -> Iterator[R]:
        for scheduled_at, record_id in self._schedule.get(tenant_id, ()):
            if scheduled_at > now:
                return
            record = self._live(tenant_id, record_id)
            if record is not None:
                yield record

    def _live(self, tenant_id: TenantId, record_id: str) -> R | None:
        record = self._records.get((tenant_id, record_id))
        return None if record is None or self._is_expired(record) else record

    def _is_expired(self, record: R) -> bool:
        return record.expires_at is not None and record.expires_at <= self._clock.now()

    def _is_free(self, record: R) -> bool:
        texts = ((field, text) for field in self._kind.unique for text in texts_of(record, field))
        is_new = (record.tenant_id, record.id) not in self._records
        return is_new and not any((record.tenant_id, *each) in self._index for each in texts)

    def _expect_unchanged(self, record: R) -> None:
        there = self._live(record.tenant_id, record.id)
        if there is None or there.revision != record.revision:
            raise Changed

    def _expect_unique(self, record: R) -> None:
        for field in self._kind.unique:
            for text in texts_of(record, field):
                for other in self._index.get((record.tenant_id, field, text), set()) - {record.id}:
                    if self._live(record.tenant_id, other) is not None:
                        raise AlreadyThere(self._kind.name, field)

    def _note(self, note: AuditNote | None) -> None:
        if note is not None:
            self._noted(note)

    def _put(self, record: R, note: AuditNote | None) -> R:
        there = self._records.get((record.tenant_id, record.id))
        if there is not None:
            self._drop(there)
        self._records[record.tenant_id, record.id] = record
        insort(self._ids.setdefault(record.tenant_id, []), record.id)
        for place in self._places(record):
            self._index.setdefault(place, set()).add(record.id)
        if self._kind.scheduled:
            insort(self._schedule.setdefault(record.tenant_id, []), self._time(record))
        self._note(note)
        return record

    def _drop(self, record: R) -> None:
        del self._records[record.tenant_id, record.id]
        ids = self._ids[record.tenant_id]
        del ids[bisect_left(ids, record.id)]
        if not ids:
            del self._ids[record.tenant_id]
        for place in self._places(record):
            self._index[place].discard(record.id)
            if not self._index[place]:
                del self._index[place]
        if self._kind.scheduled:
            times = self._schedule[record.tenant_id]
            del times[bisect_left(times, self._time(record))]
            if not times:
                del self._schedule[record.tenant_id]

    def _time(self, record: R) -> tuple[datetime, str]:
        return getattr(record, self._kind.scheduled), record.id

    def _places(self, record: R) -> Iterator[tuple[TenantId, str, str]]:
        for field in self._found_by:
            for text in texts_of(record, field):
                yield record.tenant_id, field, text
