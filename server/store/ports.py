"""Interfaces of a store: the ledger that partitions write and read back, and the searches of readers."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NewType, Protocol, TypeVar

import msgspec

from server.engine.documents import ChangedPages, Pages
from server.engine.keys import Key
from server.engine.pages import DocumentId
from server.platform.query import Clauses, Page, Query, Statistic
from server.store.entities import AuditEntry, Entity

E = TypeVar("E", bound=Entity)
S = TypeVar("S")

PartitionId = NewType("PartitionId", int)

EVERY_OTHER_PARTITION = PartitionId(0)


class Insert(msgspec.Struct, frozen=True, gc=False):
    """A new row."""

    row: Entity


class Update(msgspec.Struct, frozen=True, gc=False):
    """New values of some fields of the row with this key."""

    entity: type[Entity]
    key: Key
    values: Mapping[str, object]


class Delete(msgspec.Struct, frozen=True, gc=False):
    """The row with this key is no more."""

    entity: type[Entity]
    key: Key


class Forget(msgspec.Struct, frozen=True, gc=False):
    """All rows of this ended process instance are deleted, in bounded steps after the commit."""

    tenant_id: str
    process_instance_key: Key


Change = Insert | Update | Delete | Forget


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The packed answer to a command with an idempotency key; `request_hash` identifies its request."""

    tenant_id: str
    idempotency_key: str
    request_hash: bytes
    answer: bytes
    created_at: datetime


@dataclass(frozen=True, slots=True)
class OutgoingCommand:
    """A packed command for another partition, or for every other one that there is at the commit.

    `format` is the number of the layout that it is packed in.
    """

    target: PartitionId
    command: bytes
    format: int = 1


@dataclass(frozen=True, slots=True)
class IncomingCommand:
    """A packed command that another partition sent; the numbers of one source rise with its commits.

    `format` is the number of the layout that it is packed in.
    """

    source: PartitionId
    number: int
    command: bytes
    format: int = 1


class Batch(msgspec.Struct):
    """Everything that one turn of a partition produced, in order; committed whole or not at all.

    `documents` are the pages that changed of the documents that the turn touched, None for a page that is gone, and
    None instead of the pages for a document that ended. `definitions` are packed by their keys, None for one that is
    gone; cluster variables are among them. `taken` are the commands of other partitions that the turn carried out:
    they leave the outbox with this commit. `active_instances` is by how many those of each tenant grew,
    `reservations` are the numbers of those that the turn used or did not need: they end with this commit.
    """

    changes: list[Change] = []
    last_key: Key = Key(0)
    documents: dict[DocumentId, ChangedPages | None] = {}
    definitions: dict[Key, bytes | None] = {}
    answers: list[StoredAnswer] = []
    audit: list[AuditEntry] = []
    outgoing: list[OutgoingCommand] = []
    taken: list[IncomingCommand] = []
    active_instances: dict[str, int] = {}
    reservations: list[int] = []

    @property
    def is_empty(self) -> bool:
        written = (self.changes, self.documents, self.definitions, self.answers, self.audit)
        return not any((*written, self.outgoing, self.taken, self.reservations))


@dataclass(frozen=True, slots=True)
class Reservation:
    """How many process instances each tenant may start now; `numbers` are for the commit of these starts."""

    granted: Mapping[str, int]
    numbers: Sequence[int] = ()


class LeaseLost(Exception):
    """Another owner has the partition, or may have by now: nothing was committed, and nothing will be."""


class Ledger(Protocol):
    """Where one partition commits, and reads what it wrote before."""

    async def commit(self, batch: Batch) -> None:
        """Return when the batch is durable, however long the store is away; raises LeaseLost."""
        ...

    async def documents(self, ids: Collection[DocumentId]) -> Mapping[DocumentId, Pages]:
        """Committed documents with all of their pages, as far as they are there."""
        ...

    async def answers(self, keys: Collection[tuple[str, str]]) -> Sequence[StoredAnswer]:
        """Answers kept for these pairs of tenant and idempotency key, of every partition."""
        ...

    async def incoming(self, after: Mapping[PartitionId, int], most: int) -> Sequence[IncomingCommand]:
        """Commands of other partitions beyond the number given for each source, in the order of their numbers."""
        ...

    async def reserve(self, wanted: Mapping[str, int], most: int) -> Reservation:
        """Let each tenant start this number of process instances, or fewer, so that no more than `most` are active anywhere.

        Raises Unavailable.
        """
        ...


class Store(Protocol):
    """Reads see committed batches only."""

    async def get(self, entity: type[E], key: Key, *, tenant_id: str) -> E | None:
        """Find the row with this key, None when the tenant has none."""
        ...

    async def search(self, entity: type[E], query: Query, *, tenant_id: str) -> Page[E]: ...

    async def statistics(
        self, statistic: Statistic[S], clauses: Clauses = (), *, tenant_id: str
    ) -> Sequence[S]:
        """Of the tenant's rows for which all clauses hold; in no order."""
        ...
