"""Records in PostgreSQL: one table per kind, with a column per lookup field.

Each method is one statement, so the first of concurrent changes wins, in any process. The program's clock
decides whether a record has expired, as in memory.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Generic, TypeAlias

import asyncpg
import orjson

from server.platform.audit import AuditNote
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.postgres.database import Database
from server.platform.query import Page, Query
from server.platform.query.cursor import cursors
from server.platform.query.sql import TOTAL, Statement
from server.platform.records.contents import Contents
from server.platform.records.port import (
    REMOVALS,
    AlreadyThere,
    AuditLog,
    Changed,
    Condition,
    Guard,
    Kind,
    R,
    Records,
    Removal,
)
from server.platform.records.search import FEW, Search, search_of
from server.platform.records.statements import ALONE, CONDITION, Statements, combined, guarding, inserting
from server.platform.records.texts import (
    can_be_kept,
    expect_that_can_be_kept,
    expect_unique_texts,
    holds_many,
    texts_of,
)

# The values of all columns in order.
Row: TypeAlias = tuple[str | int | datetime | list[str] | None, ...]

# Each repetition is due to a record that expired since the attempt before.
_ATTEMPTS = 5


class PostgresRecordStore:
    """A record store in PostgreSQL, whose tables migrations create; `audit` receives notes of changes."""

    def __init__(self, database: Database, clock: Clock, audit: AuditLog | None = None) -> None:
        self._database = database
        self._clock = clock
        self._noting = _AuditedStatements(database, audit)
        self._opened: dict[str, PostgresRecords[Any]] = {}

    def of(self, kind: Kind[R]) -> Records[R]:
        if kind.name not in self._opened:
            expect_unique_texts(kind)
            self._opened[kind.name] = PostgresRecords(
                kind, self._database, self._clock, self._noting, self._row_of_removal
            )
        return self._opened[kind.name]

    def _row_of_removal(self, removal: Removal) -> Row:
        self.of(REMOVALS)
        return self._opened[REMOVALS.name].row(replace(removal, revision=1))

    async def note(self, note: AuditNote) -> None:
        await self._noting.fetch(ALONE, (), note)


class _AuditedStatements:
    """Runs statements together with their audit entries."""

    def __init__(self, database: Database, audit: AuditLog | None) -> None:
        self._database = database
        self._audit = audit

    async def fetch(
        self,
        statement: str,
        arguments: Sequence[object],
        note: AuditNote | None,
        *,
        guard: Guard | None = None,
        removal: Row = (),
    ) -> Sequence[asyncpg.Record]:
        """Run a statement together with its guard, the row of a removal and its audit entry, as far as there are any."""
        guarded, after = "", []
        if guard is not None:
            guarded = guarding(guard.kind, len(arguments) + 1)
            arguments = (*arguments, *_arguments(guard))
        if removal:
            after.append(inserting(REMOVALS, len(arguments) + 1))
            arguments = (*arguments, *removal)
        audit = self._audit
        if note is None or audit is None or not audit.is_open:
            text = combined(statement, before=guarded, after=after) if guarded or after else statement
            return await self._database.fetch(text, *arguments)
        after.append(audit.clauses(len(arguments) + 1))
        text = combined(statement, before=guarded, after=after)
        arguments = (*arguments, *audit.arguments(note))
        try:
            return await self._database.fetch(text, *arguments)
        except asyncpg.CheckViolationError:
            await audit.make_room(note)
            return await self._database.fetch(text, *arguments)


def _arguments(guard: Guard) -> tuple[object, ...]:
    before = guard.record
    after = replace(before, revision=before.revision + 1)
    content = Contents(guard.kind).written(after)
    return before.tenant_id, before.id, after.revision, content, before.revision


class PostgresRecords(Generic[R]):
    def __init__(
        self,
        kind: Kind[R],
        database: Database,
        clock: Clock,
        noting: _AuditedStatements,
        row_of_removal: Callable[[Removal], Row],
    ) -> None:
        self._kind = kind
        self._row_of_removal = row_of_removal
        self._database = database
        self._noting = noting
        self._clock = clock
        self._fields = (*kind.unique, *kind.indexed)
        found_by = (*self._fields, *kind.derived)
        self._lists = frozenset(field for field in found_by if holds_many(kind.type, field))
        self._statements = Statements.of(kind, self._lists)
        self._contents: Contents[R] = Contents(kind)

    async def get(self, tenant_id: TenantId, record_id: str) -> R | None:
        if not can_be_kept(tenant_id, record_id):
            return None
        rows = await self._database.fetch(self._statements.get, tenant_id, record_id, self._clock.now())
        return self._record(rows[0]) if rows else None

    async def find(self, tenant_id: TenantId, field: str, text: str, *, most: int = 1000) -> Sequence[R]:
        if not text or not can_be_kept(tenant_id, text):
            return []
        statement = self._statements.find[field]
        rows = await self._database.fetch(statement, tenant_id, text, self._clock.now(), most)
        return [self._record(row) for row in rows]

    async def find_any(self, tenant_id: TenantId, field: str, texts: Collection[str]) -> Sequence[R]:
        kept = [text for text in texts if text and can_be_kept(tenant_id, text)]
        if not kept:
            return []
        statement = self._statements.find_any[field]
        rows = await self._database.fetch(statement, tenant_id, kept, self._clock.now())
        return [self._record(row) for row in rows]

    async def due(self, tenant_id: TenantId, now: datetime, *, most: int) -> Sequence[R]:
        rows = await self._database.fetch(self._statements.due, tenant_id, now, self._clock.now(), most)
        return [self._record(row) for row in rows]

    async def due_tenants(self, now: datetime) -> Sequence[TenantId]:
        rows = await self._database.fetch(self._statements.due_tenants, now, self._clock.now())
        return [TenantId(row["tenant_id"]) for row in rows]

    async def page(self, tenant_id: TenantId, *, after: str = "", most: int = 100) -> Sequence[R]:
        if not can_be_kept(tenant_id, after):
            return []
        rows = await self._database.fetch(self._statements.page, tenant_id, after, self._clock.now(), most)
        return [self._record(row) for row in rows]

    async def search(self, tenant_id: TenantId, query: Query) -> Page[R]:
        search = search_of(self._kind, query, tenant_id=tenant_id, now=self._clock.now())
        few = await self._few(search, query)
        if few is not None:
            return few
        (count,) = await self._database.fetch(search.count.text, *search.count.arguments)
        items = await self._items(search.page, query)
        return Page(items, count[0], *cursors(query, items))

    async def matches(self, tenant_id: TenantId, query: Query) -> Sequence[R]:
        search = search_of(self._kind, query, tenant_id=tenant_id, now=self._clock.now())
        if search.first_page is not None:
            first = await self._items(search.first_page, query)
            if len(first) == query.window.limit:
                return first
        few = await self._few(search, query)
        return await self._items(search.page, query) if few is None else few.items

    async def _few(self, search: Search, query: Query) -> Page[R] | None:
        """Return the page of a filter with few matches, None for many and without a filter."""
        if not query.clauses:
            return None
        rows = await self._database.fetch(search.counted_page.text, *search.counted_page.arguments)
        total = rows[0][TOTAL]
        if total > FEW:
            return None
        items = self._found([row for row in rows if row["content"] is not None], query)
        return Page(items, total, *cursors(query, items))

    async def _items(self, page: Statement, query: Query) -> Sequence[R]:
        return self._found(await self._database.fetch(page.text, *page.arguments), query)

    def _found(self, rows: Sequence[asyncpg.Record], query: Query) -> Sequence[R]:
        found = [self._record(row) for row in rows]
        return found if query.window.before is None else found[::-1]

    async def insert(self, record: R, *, note: AuditNote | None = None) -> R:
        kept = replace(record, revision=1)
        await self._write(self._statements.insert, kept, self.row(kept), note)
        return kept

    async def insert_all(self, records: Sequence[R]) -> Sequence[R]:
        if not records:
            return []
        kept = [replace(record, revision=1) for record in records]
        columns = _columns([self.row(record) for record in kept])
        rows = await self._database.fetch(self._statements.insert_all, *columns)
        inserted = {(row["tenant_id"], row["id"]) for row in rows}
        return [record for record in kept if (record.tenant_id, record.id) in inserted]

    async def replace(self, record: R, *, note: AuditNote | None = None, guard: Guard | None = None) -> R:
        kept = replace(record, revision=record.revision + 1)
        row = (*self.row(kept), self._clock.now(), record.revision)
        statement = self._statements.replace if guard is None else self._statements.guarded_replace
        if not await self._write(statement, kept, row, note, guard):
            raise Changed
        return kept

    async def replace_all(self, records: Sequence[R]) -> int:
        if not records:
            return 0
        rows = [self.row(replace(record, revision=record.revision + 1)) for record in records]
        return _count(
            await self._database.fetch(self._statements.replace_all, *_columns(rows), self._clock.now())
        )

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
        rows: Sequence[asyncpg.Record] = ()
        if can_be_kept(tenant_id, record_id):
            place = (tenant_id, record_id, self._clock.now(), revision)
            statement = self._statements.take if guard is None else self._statements.guarded_take
            row = () if removal is None else self._row_of_removal(removal)
            rows = await self._noting.fetch(statement, place, note, guard=guard, removal=row)
        if not rows and (revision is not None or guard is not None):
            raise Changed
        return self._record(rows[0]) if rows else None

    async def remove(
        self,
        tenant_id: TenantId,
        field: str,
        text: str,
        *,
        most: int | None = None,
        condition: Condition | None = None,
    ) -> int:
        if not text or not can_be_kept(tenant_id, text):
            return 0
        holds, arguments = _holding(condition, 5)
        statement = self._statements.remove[field].replace(CONDITION, holds)
        return _count(
            await self._database.fetch(statement, tenant_id, text, self._clock.now(), most, *arguments)
        )

    async def remove_some(self, tenant_id: TenantId, *, most: int, condition: Condition | None = None) -> int:
        holds, arguments = _holding(condition, 3)
        statement = self._statements.remove_some.replace(CONDITION, holds)
        return _count(await self._database.fetch(statement, tenant_id, most, *arguments))

    async def remove_expired(self, *, most: int = 1000) -> int:
        return _count(await self._database.fetch(self._statements.remove_expired, self._clock.now(), most))

    async def _write(
        self,
        statement: str,
        record: R,
        row: Sequence[object],
        note: AuditNote | None,
        guard: Guard | None = None,
    ) -> Sequence[asyncpg.Record]:
        """Insert or replace a record, after removing expired records that conflict with it."""
        for _ in range(_ATTEMPTS):
            try:
                return await self._noting.fetch(statement, row, note, guard=guard)
            except asyncpg.UniqueViolationError as error:
                field = self._statements.field_of(error.constraint_name)
                if not await self._remove_expired_like(record, field):
                    raise AlreadyThere(self._kind.name, field) from error
        raise AlreadyThere(self._kind.name, "id")

    async def _remove_expired_like(self, record: R, field: str) -> int:
        statement = self._statements.remove_expired_like[field]
        text = getattr(record, field)
        return _count(await self._database.fetch(statement, record.tenant_id, text, self._clock.now()))

    def row(self, record: R) -> Row:
        expect_that_can_be_kept(record, (*self._fields, *self._kind.owner_paths))
        found_by = (self._value(record, field) for field in self._fields)
        content = self._contents.written(record)
        own = (record.tenant_id, record.id, record.revision, record.expires_at, content)
        scheduled = self._kind.scheduled
        return (*own, *found_by, getattr(record, scheduled)) if scheduled else (*own, *found_by)

    def _value(self, record: R, field: str) -> str | list[str] | None:
        texts = sorted(texts_of(record, field))
        return texts if field in self._lists else next(iter(texts), None)

    def _record(self, row: asyncpg.Record) -> R:
        return self._contents.read(row["content"])


def _columns(rows: Sequence[Sequence[object]]) -> Sequence[Sequence[object]]:
    return [
        [_as_json(value) if isinstance(value, list) else value for value in column]
        for column in zip(*rows, strict=True)
    ]


def _as_json(texts: list[str]) -> str:
    """Encode texts as JSON, because the rows of an array of arrays must have equal lengths."""
    return orjson.dumps(texts).decode()


def _holding(condition: Condition | None, first: int) -> tuple[str, Sequence[str]]:
    """SQL that is true while the condition holds, with its arguments, which start at number `first`."""
    if condition is None:
        return "true", ()
    text = f"""EXISTS (
        SELECT FROM identity."{condition.kind.name}" AS kept
        WHERE kept.tenant_id = ${first} AND kept.id = ${first + 1} AND kept.{condition.field} IS NOT NULL
    )"""
    return text, (condition.tenant_id, condition.record_id)


def _count(rows: Sequence[asyncpg.Record]) -> int:
    return int(rows[0][0])
