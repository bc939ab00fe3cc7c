"""What the partitions write and what reads ask of a store."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from server.engine.keys import Key
from server.platform.query import Page, Query
from server.store.entities import Entity

E = TypeVar("E", bound=Entity)


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


@dataclass(slots=True)
class Batch:
    """Everything that one turn of a partition produced, in order; committed whole or not at all."""

    changes: list[Change] = field(default_factory=list)


class Store(Protocol):
    """Writes are one batch at a time; reads see committed batches only."""

    async def commit(self, batch: Batch) -> None: ...

    async def get(self, entity: type[E], key: Key, *, tenant_id: str) -> E | None:
        """Find the row with this key, None when the tenant has none."""
        ...

    async def search(self, entity: type[E], query: Query, *, tenant_id: str) -> Page[E]: ...
