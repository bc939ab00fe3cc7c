"""Turns a batch into one statement with arguments.

The statement consists of the clauses that the batch needs. Few different sets of clauses occur, so each
statement is planned once.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import orjson

from server.engine.keys import COUNTER_BITS, Key
from server.engine.pages import FIRST_FORMAT, HEAD_PAGE
from server.store.entities import AuditEntry
from server.store.ports import EVERY_OTHER_PARTITION, Batch, Erase, OutgoingCommand, PartitionId
from server.store.postgres import clauses
from server.store.postgres.clauses import MOST_PLACES, PLACE_BITS, Clause
from server.store.postgres.coalesce import RowChanges, coalesce
from server.store.postgres.columns import TABLES, Column, Table
from server.store.postgres.literals import NO_ITEMS, scalars, texts

MOST_STATEMENTS = 64
"""Most plans that a connection caches, at half a megabyte each."""

MOST_TEXTS = 256
"""Most cached statements, shared by all partitions of this process."""

Filled = tuple[Clause, Sequence[object]]

_AUDIT = TABLES[AuditEntry]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A prepared commit: its statement, and the position after it."""

    text: str
    arguments: Sequence[object]
    position: int


class Statements:
    """Creates the statements of one partition in one epoch."""

    def __init__(self, partition_id: PartitionId, epoch: int, *, lease_seconds: float = 0.0) -> None:
        self._partition_id = partition_id
        self._epoch = epoch
        self._lease_seconds = lease_seconds
        self._inserts: dict[Table, _Inserts] = {}
        self._updates: dict[Table, _Updates] = {}
        self._entries = _Inserts(_AUDIT, clauses.audit_of)

    def of(self, batch: Batch, before: int) -> Prepared:
        """The commit after position `before`; raises ValueError for a change that fits no table."""
        after = before + _positions(batch)
        first_key = self._partition_id << COUNTER_BITS | (before + 1) << PLACE_BITS
        coalesced = coalesce(batch.changes)
        filled = [
            *self._rows(coalesced.rows),
            *_forgotten(coalesced.forgotten),
            *_erased(coalesced.erased),
            *_documents(batch),
            *_answers(batch),
            *self._audit(batch.audit, first_key),
            *_commands(batch),
            *_counts(batch),
            *_tenants(batch.removed_tenants),
        ]
        arguments: list[object] = [self._partition_id, self._epoch, before, batch.last_key, after]
        arguments.append(self._lease_seconds)
        for _, values in filled:
            arguments += values
        return Prepared(_text(tuple(clause for clause, _ in filled)), arguments, after)

    def _rows(self, coalesced: Iterable[RowChanges]) -> Iterator[Filled]:
        for rows in coalesced:
            if rows.inserts:
                inserts = self._inserts.get(rows.table)
                if inserts is None:
                    of_table = partial(clauses.insert_of, rows.table)
                    inserts = self._inserts[rows.table] = _Inserts(rows.table, of_table)
                yield inserts.fill(rows.inserts.values())
            if rows.updates:
                updates = self._updates.get(rows.table)
                if updates is None:
                    updates = self._updates[rows.table] = _Updates(rows.table)
                yield updates.fill(rows.updates)
            if rows.deletions:
                yield clauses.delete_of(rows.table), (scalars(list(rows.deletions)),)

    def _audit(self, entries: Sequence[AuditEntry], first_key: int) -> Iterator[Filled]:
        if entries:
            key = _AUDIT.places[_AUDIT.key.name]
            rows = [list(_AUDIT.cells(entry)) for entry in entries]
            for place, cells in enumerate(rows):
                cells[key] = first_key + place
            yield self._entries.fill(rows)


class _ColumnParameters:
    """How the values of columns are passed: one for all rows, or an array if they differ.

    PostgreSQL calls a function for each array of a clause, also for empty arrays, which takes longer than the rows of
    a small batch. Only separate columns have an array: those of which the rows of a batch differed once. A column stays
    separate, so that the clause soon stays the same.
    """

    def __init__(self) -> None:
        self.separate: frozenset[Column] = frozenset()

    def one(self, column: Column, value: object) -> tuple[object, ...]:
        """The parameters of a column that has this value in all rows."""
        passed = None if value is None else column.to_value(value)
        return (passed, NO_ITEMS) if column in self.separate else (passed,)

    def several(self, column: Column, values: Sequence[object]) -> tuple[object, ...]:
        """The parameters of a column that is separate from now on, with the value of each row."""
        if column not in self.separate:
            self.separate |= {column}
        return None, column.to_literal(values)


class _Inserts:
    """New rows of one table; `clause_of` returns the clause for the separate columns."""

    def __init__(self, table: Table, clause_of: Callable[[frozenset[Column]], Clause]) -> None:
        self._table = table
        self._clause_of = clause_of
        self._parameters = _ColumnParameters()

    def fill(self, rows: Iterable[Sequence[object]]) -> Filled:
        passed: list[object] = []
        for column, values in zip(self._table.columns, zip(*rows, strict=True), strict=True):
            first = values[0]
            # The array of keys determines the number of rows.
            if column is not self._table.key and values.count(first) == len(values):
                passed += self._parameters.one(column, first)
            else:
                passed += self._parameters.several(column, values)
        return self._clause_of(self._parameters.separate), passed


class _Updates:
    """Updates of one table; columns are only added to their clause, so that it soon stays the same."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._changed: tuple[Column, ...] = ()
        self._bits: dict[str, int] = {}
        self._parameters = _ColumnParameters()

    def fill(self, updates: Mapping[Key, Mapping[str, object]]) -> Filled:
        rows = list(updates.values())
        new = {name for values in rows for name in values if name not in self._bits}
        if new:
            self._learn(new)
        masks = [sum([self._bits[name] for name in values]) for values in rows]
        passed: list[object] = [scalars(list(updates)), scalars(masks)]
        for column in self._changed:
            name = column.name
            given = [values[name] for values in rows if name in values] or [None]
            if given.count(given[0]) == len(given):
                passed += self._parameters.one(column, given[0])
            else:
                passed += self._parameters.several(column, [values.get(name) for values in rows])
        return clauses.update_of(self._table, self._changed, self._parameters.separate), passed

    def _learn(self, names: set[str]) -> None:
        known = names.union(self._bits)
        self._changed = tuple(column for column in self._table.columns if column.name in known)
        self._bits = {column.name: 1 << bit for bit, column in enumerate(self._changed)}


def _documents(batch: Batch) -> Iterator[Filled]:
    yield from _first_format(batch)
    yield from _pages(batch)
    ended = [document for document, pages in batch.documents.items() if pages is None]
    if ended:
        yield clauses.END_DOCUMENTS, tuple(map(scalars, zip(*ended, strict=True)))
    yield from _definitions(batch.definitions)


def _pages(batch: Batch) -> Iterator[Filled]:
    written: list[tuple[int, int, int, int, bytes]] = []
    gone: list[tuple[int, int, int]] = []
    for document, pages in batch.documents.items():
        for number, page in pages.items() if pages else ():
            if page is None:
                gone.append((*document, number))
            elif page.format > FIRST_FORMAT:
                written.append((*document, number, page.format, page.content))
    if written:
        *numbers, contents = zip(*written, strict=True)
        yield clauses.PUT_PAGES, (*map(scalars, numbers), contents)
    if gone:
        yield clauses.DROP_PAGES, tuple(map(scalars, zip(*gone, strict=True)))


def _definitions(definitions: Mapping[Key, bytes | None]) -> Iterator[Filled]:
    written = {key: content for key, content in definitions.items() if content is not None}
    if written:
        yield clauses.PUT_DEFINITIONS, (scalars(list(written)), list(written.values()))
    if len(written) < len(definitions):
        gone = [key for key, content in definitions.items() if content is None]
        yield clauses.DROP_DEFINITIONS, (scalars(gone),)


def _first_format(batch: Batch) -> Iterator[Filled]:
    """Writes and deletions of documents in the first format, which versions without pages read."""
    written, gone = {}, []
    for document, pages in batch.documents.items():
        head = pages.get(HEAD_PAGE) if pages is not None else None
        if head is not None and head.format == FIRST_FORMAT:
            written[document.key] = head.content
        elif pages is None or head is not None:
            gone.append(document.key)
    if written:
        yield clauses.PUT_IN_FIRST_FORMAT, (scalars(list(written)), list(written.values()))
    if gone:
        yield clauses.END_FIRST_FORMAT, (scalars(gone),)


def _forgotten(tenants: Mapping[Key, str]) -> Iterator[Filled]:
    if tenants:
        yield clauses.FORGET, (scalars(list(tenants)), texts(list(tenants.values())))


def _erased(erased: Sequence[Erase]) -> Iterator[Filled]:
    if erased:
        arrays = (
            scalars([each.key for each in erased]),
            texts([each.tenant_id for each in erased]),
            scalars([each.process_instance_key for each in erased]),
            texts([orjson.dumps(each.names).decode() for each in erased]),
            scalars([each.moment for each in erased]),
        )
        yield clauses.ERASE, arrays


def _answers(batch: Batch) -> Iterator[Filled]:
    if batch.answers:
        arrays = (
            texts([answer.tenant_id for answer in batch.answers]),
            texts([answer.idempotency_key for answer in batch.answers]),
            [answer.request_hash for answer in batch.answers],
            [answer.answer for answer in batch.answers],
            scalars([answer.created_at for answer in batch.answers]),
        )
        yield clauses.KEEP_ANSWERS, arrays


def _commands(batch: Batch) -> Iterator[Filled]:
    sent: list[tuple[int, OutgoingCommand]] = []
    broadcast: list[tuple[int, OutgoingCommand]] = []
    for numbered in enumerate(batch.outgoing):
        (broadcast if numbered[1].target == EVERY_OTHER_PARTITION else sent).append(numbered)
    if sent:
        targets = scalars([command.target for _, command in sent])
        yield clauses.SEND, (targets, *_placed(sent))
    if broadcast:
        yield clauses.BROADCAST, _placed(broadcast)
    if batch.taken:
        sources = scalars([command.source for command in batch.taken])
        yield clauses.TAKE, (sources, scalars([command.number for command in batch.taken]))


def _placed(commands: Sequence[tuple[int, OutgoingCommand]]) -> tuple[object, object, object]:
    return (
        scalars([place for place, _ in commands]),
        [command.command for _, command in commands],
        scalars([command.format for _, command in commands]),
    )


def _counts(batch: Batch) -> Iterator[Filled]:
    grown = {tenant_id: growth for tenant_id, growth in batch.active_instances.items() if growth}
    if grown:
        yield clauses.COUNT_INSTANCES, (texts(list(grown)), scalars(list(grown.values())))
    if batch.reservations:
        yield clauses.SETTLE_RESERVATIONS, (scalars(batch.reservations),)


def _tenants(removed: Mapping[str, int | None]) -> Iterator[Filled]:
    marked = {tenant_id: number for tenant_id, number in removed.items() if number is not None}
    if marked:
        yield clauses.MARK_TENANTS, (texts(list(marked)), scalars(list(marked.values())))
    if len(marked) < len(removed):
        yield clauses.RELEASE_TENANTS, (texts([each for each, number in removed.items() if number is None]),)


def _positions(batch: Batch) -> int:
    """The number of positions for the batch, so that each audit entry and outgoing command has its own place."""
    return max(1, -(-max(len(batch.audit), len(batch.outgoing)) // MOST_PLACES))


@lru_cache(MOST_TEXTS)
def _text(filled: tuple[Clause, ...]) -> str:
    return clauses.statement(filled)
