"""Records for as long as the process lives."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Generic

from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.records.port import AlreadyThere, Changed, Kind, R, Records
from server.platform.records.texts import expect_that_can_be_kept, expect_unique_texts, texts_of


class MemoryRecordStore:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: dict[str, MemoryRecords[Any]] = {}

    def of(self, kind: Kind[R]) -> Records[R]:
        if kind.name not in self._kept:
            expect_unique_texts(kind)
            self._kept[kind.name] = MemoryRecords(kind, self._clock)
        return self._kept[kind.name]


class MemoryRecords(Generic[R]):
    """Indexed by each text of each field that records are found by."""

    def __init__(self, kind: Kind[R], clock: Clock) -> None:
        self._kind = kind
        self._clock = clock
        self._records: dict[tuple[TenantId, str], R] = {}
        self._index: dict[tuple[TenantId, str, str], set[str]] = {}

    async def get(self, tenant_id: TenantId, record_id: str) -> R | None:
        return self._live(tenant_id, record_id)

    async def find(self, tenant_id: TenantId, field: str, text: str, *, most: int = 1000) -> Sequence[R]:
        ids = sorted(self._index.get((tenant_id, field, text), ()))
        found = (self._live(tenant_id, record_id) for record_id in ids)
        return [record for record in found if record is not None][:most]

    async def tenants(self, field: str, text: str) -> Sequence[TenantId]:
        places = {tenant_id for tenant_id, *place in self._index if place == [field, text]}
        return [tenant_id for tenant_id in sorted(places) if await self.find(tenant_id, field, text, most=1)]

    async def page(self, tenant_id: TenantId, *, after: str = "", most: int = 100) -> Sequence[R]:
        ids = sorted(
            record_id for tenant, record_id in self._records if tenant == tenant_id and record_id > after
        )
        found = (self._live(tenant_id, record_id) for record_id in ids)
        return [record for record in found if record is not None][:most]

    async def insert(self, record: R) -> R:
        expect_that_can_be_kept(record, (*self._kind.unique, *self._kind.indexed))
        if self._live(record.tenant_id, record.id) is not None:
            raise AlreadyThere(self._kind.name, "id")
        self._expect_unique(record)
        return self._put(replace(record, revision=1))

    async def replace(self, record: R) -> R:
        expect_that_can_be_kept(record, (*self._kind.unique, *self._kind.indexed))
        there = self._live(record.tenant_id, record.id)
        if there is None or there.revision != record.revision:
            raise Changed
        self._expect_unique(record)
        return self._put(replace(record, revision=record.revision + 1))

    async def take(self, tenant_id: TenantId, record_id: str) -> R | None:
        record = self._live(tenant_id, record_id)
        if record is not None:
            self._drop(record)
        return record

    async def remove(self, tenant_id: TenantId, field: str, text: str) -> int:
        found = await self.find(tenant_id, field, text, most=len(self._records))
        for record in found:
            self._drop(record)
        return len(found)

    async def remove_expired(self, *, most: int = 1000) -> int:
        expired = [record for record in self._records.values() if self._is_expired(record)][:most]
        for record in expired:
            self._drop(record)
        return len(expired)

    def _live(self, tenant_id: TenantId, record_id: str) -> R | None:
        record = self._records.get((tenant_id, record_id))
        return None if record is None or self._is_expired(record) else record

    def _is_expired(self, record: R) -> bool:
        return record.expires_at is not None and record.expires_at <= self._clock.now()

    def _expect_unique(self, record: R) -> None:
        for field in self._kind.unique:
            for text in texts_of(record, field):
                for other in self._index.get((record.tenant_id, field, text), set()) - {record.id}:
                    if self._live(record.tenant_id, other) is not None:
                        raise AlreadyThere(self._kind.name, field)

    def _put(self, record: R) -> R:
        there = self._records.get((record.tenant_id, record.id))
        if there is not None:
            self._drop(there)
        self._records[record.tenant_id, record.id] = record
        for place in self._places(record):
            self._index.setdefault(place, set()).add(record.id)
        return record

    def _drop(self, record: R) -> None:
        del self._records[record.tenant_id, record.id]
        for place in self._places(record):
            self._index[place].discard(record.id)
            if not self._index[place]:
                del self._index[place]

    def _places(self, record: R) -> Iterator[tuple[TenantId, str, str]]:
        for field in (*self._kind.unique, *self._kind.indexed):
            for text in texts_of(record, field):
                yield record.tenant_id, field, text
