"""The store and ledger of the embedded mode: everything in memory, with a bounded history.

Commits and searches run without awaiting anything, so no reader sees half a batch. Rows given to readers
belong to the store and change with later commits, so readers must convert them at once.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import cast

from server.engine.documents import ChangedPages, Pages
from server.engine.keys import Key
from server.engine.pages import DocumentId, StoredPage
from server.platform.call import USER
from server.platform.query import (
    Clauses,
    Page,
    Query,
    Related,
    Scalar,
    Statistic,
    evaluate,
    grouped,
    matching,
)
from server.store.entities import (
    AuditEntry,
    BatchOperation,
    BatchOperationItem,
    CorrelatedMessageSubscription,
    DecisionInstance,
    ElementInstance,
    Entity,
    Incident,
    Job,
    MessageSubscription,
    ProcessInstance,
    ProcessInstanceState,
    UserTask,
    Variable,
)
from server.store.erasable import erased_values
from server.store.ports import (
    Batch,
    Change,
    Delete,
    E,
    Erase,
    Forget,
    IncomingCommand,
    Insert,
    PartitionId,
    Reservation,
    S,
    StoredAnswer,
    Update,
)
from server.store.searchables import SEARCHABLES
from server.store.table import Table

# Audit entries are kept only for these kinds of entities.
USER_TASK = "USER_TASK"
_PROCESS_INSTANCE = "PROCESS_INSTANCE"

PARTS = (
    ElementInstance,
    Job,
    Variable,
    Incident,
    UserTask,
    MessageSubscription,
    CorrelatedMessageSubscription,
    DecisionInstance,
    AuditEntry,
)

# The process instance or batch operation that a row is removed with.
_WHOLE: Mapping[type[Entity], Callable[[Entity], Key | None]] = {
    **dict.fromkeys(PARTS, attrgetter("process_instance_key")),
    BatchOperationItem: attrgetter("batch_operation_key"),
}

_INSTANCE = "process_instance_key"

# Entities of which only a bounded number of ended rows are kept.
_ENDING = frozenset({ProcessInstance, DecisionInstance, BatchOperation})


class MemoryStore:
    """Keeps every active process instance and the last `max_finished_instances` ended ones, with all their rows.

    Audit entries are kept for their user tasks, and those of persons also for the process instances themselves. The
    same number is kept of decision instances without a process instance, and of ended batch operations.
    """

    def __init__(self, max_finished_instances: int) -> None:
        self._tables: dict[type, Table[Entity]] = {
            entity: Table(searchable) for entity, searchable in SEARCHABLES.items()
        }
        # The rows that are removed together; some may have been removed already.
        self._parts: dict[Key, list[Entity]] = {}
        self._max_finished_instances = max_finished_instances
        self._finished: OrderedDict[Key, ProcessInstance] = OrderedDict()
        self._decided: OrderedDict[Key, DecisionInstance] = OrderedDict()
        self._batches: OrderedDict[Key, BatchOperation] = OrderedDict()
        self._last_audited = 0
        self._documents: dict[DocumentId, dict[int, StoredPage]] = {}

    async def commit(self, batch: Batch) -> None:
        """Apply a batch; raises ValueError for a change that fits no table, before anything changes.

        An update of a row that was removed changes nothing.
        """
        self._check(batch)
        tables = self._tables
        for change in batch.changes:
            if type(change) is Insert:
                row: Entity | None = change.row
                self._insert(change.row)
            elif type(change) is Update:
                row = tables[change.entity].update(change.key, change.values)
            else:
                self._take_out(change)
                continue
            if type(row) in _ENDING:
                self._note(row)
        if batch.audit:
            self._audit(batch.audit)
        for document, pages in batch.documents.items():
            if pages is None:
                self._documents.pop(document, None)
            else:
                self._write(document, pages)
        self._forget_oldest()

    def active(self, tenant_id: str) -> Sequence[Key]:
        """The active process instances of a tenant."""
        rows = self.rows(ProcessInstance, tenant_id)
        return [row.process_instance_key for row in rows if row.state is ProcessInstanceState.ACTIVE]

    def rows(self, entity: type[E], tenant_id: str) -> Sequence[E]:
        """The rows of a tenant in the order of their keys."""
        return cast("Sequence[E]", self._tables[entity].of(tenant_id))

    def count(self, tenant_id: str) -> int:
        """The number of rows of a tenant."""
        return sum(len(table.of(tenant_id)) for table in self._tables.values())

    def remove_some(self, tenant_id: str, most: int) -> bool:
        """Remove rows of a tenant that is being removed; returns whether there were any."""
        for table in self._tables.values():
            if some := table.of(tenant_id)[:most]:
                for row in some:
                    self._remove(row)
                return True
        return False

    def _remove(self, row: Entity) -> None:
        table = self._tables[type(row)]
        key = table.key_of(row)
        table.remove(row)
        if type(row) in _ENDING:
            for kept in (self._finished, self._decided, self._batches):
                if kept.get(key) is row:
                    del kept[key]
            self._parts.pop(key, None)

    def _note(self, row: Entity | None) -> None:
        """Record a row that has ended in the order of ends."""
        if type(row) is ProcessInstance and row.state is not ProcessInstanceState.ACTIVE:
            self._finished.setdefault(row.process_instance_key, row)
        elif type(row) is DecisionInstance and row.process_instance_key is None:
            self._decided[row.decision_instance_key] = row
        elif type(row) is BatchOperation and row.end_date is not None:
            self._batches.setdefault(row.batch_operation_key, row)

    def _forget_oldest(self) -> None:
        while len(self._finished) > self._max_finished_instances:
            key, instance = self._finished.popitem(last=False)
            self._forget(instance, key)
        while len(self._decided) > self._max_finished_instances:
            self._tables[DecisionInstance].remove(self._decided.popitem(last=False)[1])
        while len(self._batches) > self._max_finished_instances:
            key, batch_operation = self._batches.popitem(last=False)
            self._forget(batch_operation, key)

    def _audit(self, entries: Sequence[AuditEntry]) -> None:
        """Add the entries that are kept; they are removed with their process instance."""
        for entry in entries:
            if self._keeps(entry):
                self._last_audited += 1
                entry.audit_entry_key = Key(self._last_audited)
                self._insert(entry)

    def _keeps(self, entry: AuditEntry) -> bool:
        if entry.process_instance_key is None:
            return False
        # A rejected command may name a process instance that does not exist.
        return entry.entity_type == USER_TASK or (
            entry.entity_type == _PROCESS_INSTANCE
            and entry.actor_type == USER
            and self._tables[ProcessInstance].has(entry.process_instance_key)
        )

    def _write(self, document: DocumentId, pages: ChangedPages) -> None:
        stored = self._documents.setdefault(document, {})
        for number, page in pages.items():
            if page is None:
                stored.pop(number, None)
            else:
                stored[number] = page

    async def documents(self, ids: Collection[DocumentId]) -> Mapping[DocumentId, Pages]:
        return {each: dict(self._documents[each]) for each in ids if each in self._documents}

    async def answers(self, keys: Collection[tuple[str, str]]) -> Sequence[StoredAnswer]:  # noqa: ARG002
        """Return no answers, because the partition keeps them in memory as long as this store would."""
        return ()

    async def incoming(self, after: Mapping[PartitionId, int], most: int) -> Sequence[IncomingCommand]:  # noqa: ARG002
        """Return no commands, because there is no other partition."""
        return ()

    async def reserve(self, wanted: Mapping[str, int], most: int) -> Reservation:  # noqa: ARG002
        """Grant everything: a single partition counts its own instances."""
        return Reservation(wanted)

    async def get(self, entity: type[E], key: Key, *, tenant_id: str) -> E | None:
        row = cast("E | None", self._tables[entity].get(key))
        return row if row is not None and row.tenant_id in {tenant_id, None} else None

    async def search(self, entity: type[E], query: Query, *, tenant_id: str) -> Page[E]:
        rows = self._tables[entity].candidates(query.clauses, tenant_id=tenant_id)
        links = partial(self._links, tenant_id=tenant_id)
        return cast("Page[E]", evaluate(rows, query, links))

    def _links(self, clause: Related, *, tenant_id: str) -> Container[Scalar]:
        rows = self._tables[clause.entity].candidates(clause.clauses, tenant_id=tenant_id)
        links = partial(self._links, tenant_id=tenant_id)
        return set(map(attrgetter(clause.link), matching(rows, clause.clauses, links)))

    async def statistics(
        self, statistic: Statistic[S], clauses: Clauses = (), *, tenant_id: str
    ) -> Sequence[S]:
        rows = self._tables[statistic.entity].candidates(clauses, tenant_id=tenant_id)
        links = partial(self._links, tenant_id=tenant_id)
        return grouped(matching(rows, clauses, links), statistic)

    def _check(self, batch: Batch) -> None:
        tables = self._tables
        used: set[tuple[type[Entity], Key]] = set()
        for change in batch.changes:
            if type(change) is Insert:
                entity = type(change.row)
                table = tables[entity]
                row = (entity, table.key_of(change.row))
                if row in used or table.has(row[1]):
                    raise ValueError(f"{entity.__name__} {row[1]} is inserted twice")
                used.add(row)
            elif type(change) is Update:
                columns = tables[change.entity].columns
                if not columns.issuperset(change.values):
                    unknown = sorted(change.values.keys() - columns)
                    raise ValueError(f"{change.entity.__name__} {change.key} has no {unknown}")
            elif type(change) is Delete:
                used.add((change.entity, change.key))

    def _take_out(self, change: Change) -> None:
        if isinstance(change, Forget):
            self._forget_ended(change.process_instance_key, change.tenant_id)
        elif isinstance(change, Erase):
            self._erase(change)
        elif isinstance(change, Delete):
            self._delete(self._tables[change.entity], change.key)
            if change.entity is DecisionInstance:
                self._decided.pop(change.key, None)

    def _insert(self, row: Entity) -> None:
        entity = type(row)
        self._tables[entity].insert(row)
        whole_of = _WHOLE.get(entity)
        whole = whole_of(row) if whole_of is not None else None
        if whole is not None:
            parts = self._parts.get(whole)
            if parts is None:
                self._parts[whole] = [row]
            else:
                parts.append(row)

    def _erase(self, change: Erase) -> None:
        key, tenant_id = change.process_instance_key, change.tenant_id
        items = self._tables[BatchOperationItem].rows_with(_INSTANCE, key, tenant_id=tenant_id)
        for row in (*self._parts.get(key, ()), *items):
            if row.tenant_id == tenant_id:
                table = self._tables[type(row)]
                table.update(table.key_of(row), erased_values(row, change, self._end_of))

    def _end_of(self, variable: Variable) -> datetime | None:
        """When the scope of a variable ended."""
        is_whole = variable.scope_key == variable.process_instance_key
        scope = self._tables[ProcessInstance if is_whole else ElementInstance].get(variable.scope_key)
        return cast("ProcessInstance | ElementInstance", scope).end_date

    @staticmethod
    def _delete(table: Table[Entity], key: Key) -> None:
        row = table.get(key)
        if row is not None:
            table.remove(row)

    def _forget_ended(self, key: Key, tenant_id: str) -> None:
        instance = self._finished.get(key)
        if instance is not None and instance.tenant_id == tenant_id:
            self._forget(self._finished.pop(key), key)

    def _forget(self, whole: ProcessInstance | BatchOperation, key: Key) -> None:
        for part in self._parts.pop(key, ()):
            self._tables[type(part)].remove(part)
        self._tables[type(whole)].remove(whole)
