"""Ports of the store: the ledger that partitions write and read, and the searches of readers."""

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
    """Deletion of the row with this key."""

    entity: type[Entity]
    key: Key


class Forget(msgspec.Struct, frozen=True, gc=False):
    """Deletion of all rows of an ended process instance, in bounded steps after the commit."""

    tenant_id: str
    process_instance_key: Key


class Erase(msgspec.Struct, frozen=True, gc=False):
    """Erasure of values of variables in rows of a process instance, in bounded steps after the commit.

    Concerns rows that no command has changed since `moment`, and variables with these `names`, or all without names.
    """

    key: Key
    tenant_id: str
    process_instance_key: Key
    names: tuple[str, ...]
    moment: datetime


Change = Insert | Update | Delete | Forget | Erase


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
    """A packed command for another partition, or for every other partition that exists at the commit.

    `format` is the number of the layout in which it is packed.
    """

    target: PartitionId
    command: bytes
    format: int = 1


@dataclass(frozen=True, slots=True)
class IncomingCommand:
    """A packed command from another partition; the numbers of one source rise with its commits.

    `format` is the number of the layout in which it is packed.
    """

    source: PartitionId
    number: int
    command: bytes
    format: int = 1


class Batch(msgspec.Struct):
    """Everything that one turn of a partition produced, in order; committed as a whole or not at all.

    - `documents`: the changed pages by document; None for a deleted page, and None instead of pages for an
      ended document
    - `definitions`: packed definitions and cluster variables by key, None for a deleted one
    - `taken`: the executed commands of other partitions, which leave the outbox with this commit
    - `active_instances`: the change in the number of active process instances, by tenant
    - `reservations`: the numbers of the quota reservations that end with this commit
    - `removed_tenants`: the numbers of removals by tenant that the partition has marked, None for a released one
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
    removed_tenants: dict[str, int | None] = {}

    @property
    def is_empty(self) -> bool:
        written = (self.changes, self.documents, self.definitions, self.answers, self.audit)
        return not any((*written, self.outgoing, self.taken, self.reservations, self.removed_tenants))


@dataclass(frozen=True, slots=True)
class Reservation:
    """The number of process instances that each tenant may start now; `numbers` are for the commit of these starts."""

    granted: Mapping[str, int]
    numbers: Sequence[int] = ()


class LeaseLost(Exception):
    """Another owner has the partition, or may have it: nothing was committed, and nothing will be."""


class BatchRefused(Exception):
    """The store gave the batch up because it was too large: nothing of it is committed, and nothing will be."""


class Ledger(Protocol):
    """The port for one partition's commits, and for reading what it committed before."""

    async def commit(self, batch: Batch) -> None:
        """Return when the batch is durable, however long the store is unreachable; raises LeaseLost and BatchRefused."""
        ...

    async def documents(self, ids: Collection[DocumentId]) -> Mapping[DocumentId, Pages]:
        """The committed documents with all of their pages; missing documents are left out."""
        ...

    async def answers(self, keys: Collection[tuple[str, str]]) -> Sequence[StoredAnswer]:
        """The stored answers for these pairs of tenant and idempotency key, in every partition."""
        ...

    async def incoming(self, after: Mapping[PartitionId, int], most: int) -> Sequence[IncomingCommand]:
        """The commands of other partitions after the given number of each source, in the order of their numbers."""
        ...

    async def reserve(self, wanted: Mapping[str, int], most: int) -> Reservation:
        """Reserve this number of starts for each tenant, or fewer, so that at most `most` are active in all partitions.

        Raises Unavailable.
        """
        ...


@dataclass(frozen=True, slots=True)
class RemovalProgress:
    """The number of partitions, of those that have marked the tenant, and of those that hold nothing of it."""

    partitions: int
    marked: int
    clean: int


class TenantRows(Protocol):
    """The port for the rows of a tenant that is being removed; every call raises Unavailable."""

    async def active(self, partition_id: PartitionId, tenant_id: str) -> Sequence[Key]:
        """The process instances of the partition whose rows are active."""
        ...

    async def delete(self, partition_id: PartitionId, tenant_id: str, until: float) -> bool:
        """Delete rows of the partition in bounded steps until this time of the event loop; returns whether none is left.

        The first partition also deletes the rows that belong to no partition.
        """
        ...

    async def left(self, tenant_id: str) -> int:
        """The number of rows in all partitions; rows of a kind beyond `MOST_COUNTED` are not counted."""
        ...

    async def note_clean(self, partition_id: PartitionId, tenant_id: str, number: int) -> None:
        """Note that the partition holds nothing of the tenant, after all partitions have marked it."""
        ...

    async def progress(self, tenant_id: str, number: int) -> RemovalProgress: ...


MOST_COUNTED = 10_000


class Store(Protocol):
    """The port for reads, which see only committed batches."""

    async def get(self, entity: type[E], key: Key, *, tenant_id: str) -> E | None:
        """The row with this key, or None if the tenant has none."""
        ...

    async def search(self, entity: type[E], query: Query, *, tenant_id: str) -> Page[E]: ...

    async def statistics(
        self, statistic: Statistic[S], clauses: Clauses = (), *, tenant_id: str
    ) -> Sequence[S]:
        """The groups of the tenant's rows that match all clauses, in no order."""
        ...
