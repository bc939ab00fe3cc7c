"""What the partitions write and read back, and what reads ask of a store."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NewType, Protocol, TypeVar

from server.engine.keys import Key
from server.platform.query import Page, Query
from server.store.entities import AuditEntry, Entity

E = TypeVar("E", bound=Entity)

PartitionId = NewType("PartitionId", int)

EVERY_OTHER_PARTITION = PartitionId(0)


@dataclass(frozen=True, slots=True)
class Insert:
    """A new row."""

    row: Entity


@dataclass(frozen=True, slots=True)
class Update:
    """New values of some fields of the row with this key."""

    entity: type[Entity]
    key: Key
    values: Mapping[str, object]


Change = Insert | Update


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """What a command with an idempotency key was answered with, packed; `request_hash` tells its request."""

    tenant_id: str
    idempotency_key: str
    request_hash: bytes
    answer: bytes
    created_at: datetime


@dataclass(frozen=True, slots=True)
class OutgoingCommand:
    """A packed command for another partition, or for every other one that there is at the commit."""

    target: PartitionId
    command: bytes


@dataclass(frozen=True, slots=True)
class IncomingCommand:
    """A packed command that another partition sent; the numbers of one source rise with its commits."""

    source: PartitionId
    number: int
    command: bytes


@dataclass(slots=True)
class Batch:
    """Everything that one turn of a partition produced, in order; committed whole or not at all.

    `documents` are the packed process instances that the turn touched, None for one that ended. `definitions` are
    packed by the key of their process definition. `taken` are the commands of other partitions that the turn carried
    out: they leave the outbox with this commit. `active_instances` is by how many those of each tenant grew.
    """

    changes: list[Change] = field(default_factory=list)
    last_key: Key = Key(0)
    documents: dict[Key, bytes | None] = field(default_factory=dict)
    definitions: dict[Key, bytes] = field(default_factory=dict)
    answers: list[StoredAnswer] = field(default_factory=list)
    audit: list[AuditEntry] = field(default_factory=list)
    outgoing: list[OutgoingCommand] = field(default_factory=list)
    taken: list[IncomingCommand] = field(default_factory=list)
    active_instances: Counter[str] = field(default_factory=Counter)

    @property
    def is_empty(self) -> bool:
        return not (self.changes or self.documents or self.answers or self.audit or self.taken)


class LeaseLost(Exception):
    """Another owner has the partition, or may have by now: nothing was committed, and nothing will be."""


class Ledger(Protocol):
    """Where one partition commits, and reads what it wrote before."""

    async def commit(self, batch: Batch) -> None:
        """Return when the batch is durable, however long the store is away; raises LeaseLost."""
        ...

    async def documents(self, keys: Collection[Key]) -> Mapping[Key, bytes]:
        """Committed documents of live process instances."""
        ...

    async def answers(self, keys: Collection[tuple[str, str]]) -> Sequence[StoredAnswer]:
        """Answers kept for these pairs of tenant and idempotency key, of every partition."""
        ...

    async def incoming(self, after: Mapping[PartitionId, int], most: int) -> Sequence[IncomingCommand]:
        """Commands of other partitions beyond the number given for each source, in the order of their numbers."""
        ...

    async def active_instances(self) -> Mapping[str, int]:
        """Active process instances by tenant, in all other partitions."""
        ...


@dataclass(frozen=True, slots=True)
class ElementStatistics:
    """How many instances of an element there are and were; `incidents` are the active ones with an open incident."""

    element_id: str
    active: int
    completed: int
    canceled: int
    incidents: int


class Store(Protocol):
    """Reads see committed batches only."""

    async def get(self, entity: type[E], key: Key, *, tenant_id: str) -> E | None:
        """Find the row with this key, None when the tenant has none."""
        ...

    async def search(self, entity: type[E], query: Query, *, tenant_id: str) -> Page[E]: ...

    async def element_statistics(
        self, process_definition_key: Key, *, tenant_id: str
    ) -> Sequence[ElementStatistics]:
        """Of each element of a process definition that has or had an instance, in the order of their ids."""
        ...
