"""A batch as one statement and its arguments.

The clauses that a batch needs make the text; few different sets of them occur, so that each text is planned once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from server.engine.keys import COUNTER_BITS, Key
from server.store.entities import AuditEntry
from server.store.ports import EVERY_OTHER_PARTITION, Batch, OutgoingCommand, PartitionId
from server.store.postgres import clauses
from server.store.postgres.clauses import PLACE_BITS, Clause
from server.store.postgres.coalesce import coalesce
from server.store.postgres.columns import TABLES, Column, Table
from server.store.postgres.literals import scalars, texts

MOST_STATEMENTS = 64
"""So many plans are kept by a connection, at half a megabyte each."""

MOST_TEXTS = 256
"""Of all partitions of this process, which mostly are the same."""

MOST_PLACES = 1 << PLACE_BITS

Filled = tuple[Clause, Sequence[object]]


class Statements:
    """Makes the statements of one partition in one epoch."""

    def __init__(self, partition_id: PartitionId, epoch: int) -> None:
        self._partition_id = partition_id
        self._epoch = epoch
        self._updates: dict[Table, _Updates] = {}

    def of(self, batch: Batch, position: int) -> tuple[str, list[object]]:
        """Text and arguments of the commit that leads to this position; raises ValueError for what fits no table."""
        filled = [
            *self._rows(batch),
            *_documents(batch),
            *_answers(batch),
            *_audit(batch.audit, self._partition_id << COUNTER_BITS | position << PLACE_BITS),
            *_commands(batch),
            *_counts(batch),
        ]
        arguments: list[object] = [self._partition_id, self._epoch, position, batch.last_key]
        for _, values in filled:
            arguments += values
        return _text(tuple(clause for clause, _ in filled)), arguments

    def _rows(self, batch: Batch) -> Iterator[Filled]:
        for rows in coalesce(batch.changes):
            if rows.inserts:
                yield clauses.insert_of(rows.table), _passed(rows.table, rows.inserts.values())
            if rows.updates:
                updates = self._updates.get(rows.table)
                if updates is None:
                    updates = self._updates[rows.table] = _Updates(rows.table)
                yield updates.fill(rows.updates)


class _Updates:
    """Of one table; the columns that they name only become more, so that the clause stays the same for long."""

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
    live = {key: content for key, content in batch.documents.items() if content is not None}
    if live:
        yield clauses.PUT_DOCUMENTS, (scalars(list(live)), list(live.values()))
    if len(live) < len(batch.documents):
        ended = [key for key, content in batch.documents.items() if content is None]
        yield clauses.END_DOCUMENTS, (scalars(ended),)
    if batch.definitions:
        definitions = (scalars(list(batch.definitions)), list(batch.definitions.values()))
        yield clauses.PUT_DEFINITIONS, definitions


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
    _expect_places(entries, "audit entries")
    if entries:
        table = TABLES[AuditEntry]
        key = table.places[table.key.name]
        rows = [list(table.cells(entry)) for entry in entries]
        for place, cells in enumerate(rows):
            cells[key] = first_key + place
        yield clauses.AUDIT, _passed(table, rows)


def _commands(batch: Batch) -> Iterator[Filled]:
    _expect_places(batch.outgoing, "outgoing commands")
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


def _placed(commands: Sequence[tuple[int, OutgoingCommand]]) -> tuple[object, object]:
    return scalars([place for place, _ in commands]), [command.command for _, command in commands]


def _counts(batch: Batch) -> Iterator[Filled]:
    grown = {tenant_id: growth for tenant_id, growth in batch.active_instances.items() if growth}
    if grown:
        yield clauses.COUNT_INSTANCES, (texts(list(grown)), scalars(list(grown.values())))


def _expect_places(items: Sequence[object], name: str) -> None:
    if len(items) > MOST_PLACES:
        raise ValueError(f"expected at most {MOST_PLACES} {name} in a batch, found {len(items)}")


def _passed(table: Table, rows: Iterable[Sequence[object]]) -> list[object]:
    passed: list[object] = []
    for column, values in zip(table.columns, zip(*rows, strict=True), strict=True):
        # The keys tell how many rows there are.
        passed += column.separate(values) if column is table.key else column.shared(values)
    return passed


@lru_cache(MOST_TEXTS)
def _text(filled: tuple[Clause, ...]) -> str:
    return clauses.statement(filled)
