"""Unfinished batch operations, in the partition that leads them.

The items are stored in pages, each a document that is written once. The batch operation is a small document
with its progress: one window of items at a time is in hand, in the partition of their process instances.
"""

from collections import Counter
from datetime import datetime
from enum import StrEnum

import msgspec

from server.engine.journal import Journal
from server.engine.keys import Key
from server.engine.requesters import Requester


class BatchOperationType(StrEnum):
    CANCEL_PROCESS_INSTANCE = "CANCEL_PROCESS_INSTANCE"
    MIGRATE_PROCESS_INSTANCE = "MIGRATE_PROCESS_INSTANCE"
    MODIFY_PROCESS_INSTANCE = "MODIFY_PROCESS_INSTANCE"
    RESOLVE_INCIDENT = "RESOLVE_INCIDENT"
    DELETE_PROCESS_INSTANCE = "DELETE_PROCESS_INSTANCE"
    DELETE_DECISION_INSTANCE = "DELETE_DECISION_INSTANCE"
    ERASE_VARIABLES = "ERASE_VARIABLES"


class Phase(StrEnum):
    """State of an unfinished batch operation.

    `CREATED` collects items; `CANCELED` and `FAILED` drop the items that were not processed.
    """

    CREATED = "CREATED"
    ACTIVE = "ACTIVE"
    SUSPENDED = "SUSPENDED"
    CANCELED = "CANCELED"
    FAILED = "FAILED"


class ElementPair(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A source element and its target: in another version for a migration, in the same process for a modification."""

    source_element_id: str
    target_element_id: str


class BatchAction(msgspec.Struct, frozen=True, omit_defaults=True):
    """The command that runs for each item; a migration has its target's key, migrations and modifications have element pairs.

    An erasure has the names of the variables to erase; without names it erases all.
    """

    type: BatchOperationType
    target_process_definition_key: Key = Key(0)
    element_pairs: tuple[ElementPair, ...] = ()
    variable_names: tuple[str, ...] = ()


class BatchItem(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """`key` is the key of the processed entity: a process instance, an incident in it, or a decision evaluation.

    A decision evaluation has no process instance here; its decisions have the places up to `last_place`.
    """

    key: Key
    process_instance_key: Key | None
    root_process_instance_key: Key | None = None
    last_place: int = 0

    @property
    def place(self) -> tuple[Key, Key]:
        """The position of the item in the order in which items are collected."""
        return self.process_instance_key or self.key, self.key


class BatchPage(msgspec.Struct, frozen=True):
    """A page of items of a batch operation. The first item has the key of the page, the others have the following keys."""

    key: Key
    tenant_id: str
    batch_operation_key: Key
    items: tuple[BatchItem, ...]


class BatchOperation(msgspec.Struct, omit_defaults=True):
    """A batch operation and its progress.

    `pages` are the keys of the pages with items left; `position` items of the first page are done, and the
    next `in_hand` items are being processed. `due` is when the operation continues by itself, or, while it
    collects items, when it gives up.
    """

    key: Key
    tenant_id: str
    action: BatchAction
    requester: Requester
    due: datetime | None
    phase: Phase = Phase.CREATED
    pages: tuple[Key, ...] = ()
    position: int = 0
    in_hand: int = 0
    total: int = 0
    completed: int = 0
    failed: int = 0


class KnownBatchOperations:
    """Unfinished batch operations and their pages with items left."""

    def __init__(self) -> None:
        self.operations: dict[Key, BatchOperation] = {}
        self.pages: dict[Key, BatchPage] = {}
        # Indexes: the number of unfinished batch operations and of items on their pages, by tenant.
        self.counts: Counter[str] = Counter()
        self.items: Counter[str] = Counter()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KnownBatchOperations) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # mutable

    def last_place(self, operation: BatchOperation) -> tuple[Key, Key]:
        """The position of the last collected item."""
        return self.pages[operation.pages[-1]].items[-1].place if operation.pages else (Key(0), Key(0))

    def begin(self, operation: BatchOperation, journal: Journal) -> None:
        journal.note(self._forget, operation)
        self.take_in(operation)

    def end(self, operation: BatchOperation, journal: Journal) -> None:
        journal.note(self.take_in, operation)
        self._forget(operation)

    def take_in(self, operation: BatchOperation) -> None:
        """Add a batch operation that was read from the store or created."""
        self.operations[operation.key] = operation
        self.counts[operation.tenant_id] += 1

    def _forget(self, operation: BatchOperation) -> None:
        del self.operations[operation.key]
        _lower(self.counts, operation.tenant_id, 1)

    def add_page(self, page: BatchPage, journal: Journal) -> None:
        journal.note(self._forget_page, page)
        self.take_in_page(page)

    def drop_page(self, key: Key, journal: Journal) -> None:
        page = self.pages[key]
        journal.note(self.take_in_page, page)
        self._forget_page(page)

    def take_in_page(self, page: BatchPage) -> None:
        """Add a page that was read from the store or created."""
        self.pages[page.key] = page
        self.items[page.tenant_id] += len(page.items)

    def _forget_page(self, page: BatchPage) -> None:
        del self.pages[page.key]
        _lower(self.items, page.tenant_id, len(page.items))


def _lower(counts: Counter[str], tenant_id: str, by: int) -> None:
    counts[tenant_id] -= by
    if not counts[tenant_id]:
        del counts[tenant_id]
