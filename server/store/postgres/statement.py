"""Turns a batch into one statement with arguments.

The statement consists of the clauses that the batch needs. Few different sets of clauses occur, so each
statement is planned once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from server.engine.keys import COUNTER_BITS, Key
from server.engine.pages import FIRST_FORMAT, HEAD_PAGE
from server.store.entities import AuditEntry
from server.store.ports import EVERY_OTHER_PARTITION, Batch, OutgoingCommand, PartitionId
from server.store.postgres import clauses
from server.store.postgres.clauses import MOST_PLACES, PLACE_BITS, Clause
from server.store.postgres.coalesce import RowChanges, coalesce
from server.store.postgres.columns import TABLES, Column, Table
from server.store.postgres.literals import scalars, texts

MOST_STATEMENTS = 64
"""Most plans that a connection caches, at half a megabyte each."""

MOST_TEXTS = 256
"""Most cached statements, shared by all partitions of this process."""

Filled = tuple[Clause, Sequence[object]]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A prepared commit: its statement, and the position after it."""

    text: str
    arguments: Sequence[object]
    position: int


class Statements:
    """Creates the statements of one partition in one epoch."""

    def __init__(self, partition_id: PartitionId, epoch: int) -> None:
        self._partition_id = partition_id
        self._epoch = epoch
        self._updates: dict[Table, _Updates] = {}

    def of(self, batch: Batch, before: int) -> Prepared:
        """The commit after position `before`; raises ValueError for a change that fits no table."""
        after = before + _positions(batch)
        first_key = self._partition_id << COUNTER_BITS | (before + 1) << PLACE_BITS
        coalesced = coalesce(batch.changes)
        filled = [
            *self._rows(coalesced.rows),
            *_forgotten(coalesced.forgotten),
            *_documents(batch),
            *_answers(batch),
            *_audit(batch.audit, first_key),
            *_commands(batch),
            *_counts(batch),
        ]
        arguments: list[object] = [self._partition_id, self._epoch, before, batch.last_key, after]
        for _, values in filled:
            arguments += values
        return Prepared(_text(tuple(clause for clause, _ in filled)), arguments, after)

    def _rows(self, coalesced: Iterable[RowChanges]) -> Iterator[Filled]:
        for rows in coalesced:
            if rows.inserts:
                yield clauses.insert_of(rows.table), _passed(rows.table, rows.inserts.values())
            if rows.updates:
                updates = self._updates.get(rows.table)
                if updates is None:
                    updates = self._updates[rows.table] = _Updates(rows.table)
                yield updates.fill(rows.updates)
            if rows.deletions:
                yield clauses.delete_of(rows.table), (scalars(list(rows.deletions)),)


class _Updates:
    """Updates of one table; columns are only added to their clause, so that it soon stays the same."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._columns: tuple[Column, ...] = ()
        self._bits: dict[str, int] = {}

    def fill(self, updates: Mapping[Key, Mapping[str, object]]) -> Filled:
        rows = list(updates.values())
        new = {name for values in rows for name in values if name not in self._bits}
        if new:
            self._learn(new)
        masks = [sum([self._bits[name] for name in values]) for values in rows]
        passed: list[object] = [scalars(list(updates)), scalars(masks)]
        for column in self._columns:
            passed += column.shared([values.get(column.name) for values in rows])
        return clauses.update_of(self._table, self._columns), passed

    def _learn(self, names: set[str]) -> None:
        known = names.union(self._bits)
        self._columns = tuple(column for column in self._table.columns if column.name in known)
        self._bits = {column.name: 1 << bit for bit, column in enumerate(self._columns)}


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


def _audit(entries: Sequence[AuditEntry], first_key: int) -> Iterator[Filled]:
    if entries:
        table = TABLES[AuditEntry]
        key = table.places[table.key.name]
        rows = [list(table.cells(entry)) for entry in entries]
        for place, cells in enumerate(rows):
            cells[key] = first_key + place
        yield clauses.AUDIT, _passed(table, rows)


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


def _positions(batch: Batch) -> int:
    """The number of positions for the batch, so that each audit entry and outgoing command has its own place."""
    return max(1, -(-max(len(batch.audit), len(batch.outgoing)) // MOST_PLACES))


def _passed(table: Table, rows: Iterable[Sequence[object]]) -> list[object]:
    passed: list[object] = []
    for column, values in zip(table.columns, zip(*rows, strict=True), strict=True):
        # The array of keys determines the number of rows.
        passed += column.separate(values) if column is table.key else column.shared(values)
    return passed


@lru_cache(MOST_TEXTS)
def _text(filled: tuple[Clause, ...]) -> str:
    return clauses.statement(filled)
