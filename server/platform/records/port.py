"""The interface of a record store."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, Protocol, TypeVar

from server.platform.audit import AuditNote
from server.platform.call import TenantId
from server.platform.query import Page, Query


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Of a tenant; `revision` is the store's and grows with every change, an expired record is as good as gone.

    A record in the place of one that is gone begins at revision 1 again, so ids that are replaced are not used again.
    """

    tenant_id: TenantId
    id: str
    revision: int = 0
    expires_at: datetime | None = None


R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True, eq=False)
class Kind(Generic[R]):
    """How records of a type are kept, in the table `identity.<name>`.

    `unique` and `indexed` name fields that records are found by: a text, or a tuple of texts, each of which finds the
    record; an empty one finds nothing. A `unique` field holds one text, and no two records of a tenant the same.
    `derived` names attributes, text or texts, of which the database makes columns from the content by itself, so that they
    are right whichever version wrote the record: a search goes by them. `ordered` are those of all these fields whose
    order an index gives. `words` names such attributes, too, which an index finds by their beginnings. `scheduled` names
    a field with the time from which on `due` finds the record. `later` has texts of a field that the version before does
    not know: they are kept beside the field, where that version does not look, so that it can read the rest. `instead` has
    such texts of a field of one text, each with the one that the version before reads in its place.
    """

    type: type[R]
    name: str
    unique: tuple[str, ...] = ()
    indexed: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()
    ordered: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    scheduled: str = ""
    later: Mapping[str, frozenset[str]] = field(default_factory=dict)
    instead: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


class AlreadyThere(Exception):
    """There is a record with this id, or with this text in a unique field."""

    def __init__(self, kind: str, field: str) -> None:
        super().__init__(f"there is a {kind} with this {field} already")
        self.field = field


class Changed(Exception):
    """Somebody else changed or removed the record in the meantime."""


class Records(Protocol[R]):
    """The records of one kind. Every call raises Unavailable when the store is away.

    A `note` is in the audit log once the change is made, and only then.
    """

    async def get(self, tenant_id: TenantId, record_id: str) -> R | None: ...

    async def find(self, tenant_id: TenantId, field: str, text: str, *, most: int = 1000) -> Sequence[R]:
        """Records with this text in a unique or indexed field, by id."""
        ...

    async def find_any(self, tenant_id: TenantId, field: str, texts: Collection[str]) -> Sequence[R]:
        """Records with one of these texts in a unique field, by id."""
        ...

    async def due(self, tenant_id: TenantId, now: datetime, *, most: int) -> Sequence[R]:
        """Records whose scheduled time has come, earliest first, of the same time by id."""
        ...

    async def due_tenants(self, now: datetime) -> Sequence[TenantId]:
        """The tenants that have such records, in their order."""
        ...

    async def page(self, tenant_id: TenantId, *, after: str = "", most: int = 100) -> Sequence[R]:
        """Records by id, those behind `after`."""
        ...

    async def search(self, tenant_id: TenantId, query: Query) -> Page[R]:
        """The records that meet a query over fields that they are found by, derived ones, words and the id."""
        ...

    async def matches(self, tenant_id: TenantId, query: Query) -> Sequence[R]:
        """The page of such a search alone: its cost does not grow with the number of all matches."""
        ...

    async def insert(self, record: R, *, note: AuditNote | None = None) -> R:
        """The record as it is kept; raises AlreadyThere, and InvalidArgument for a text with NUL that it is found by."""
        ...

    async def insert_all(self, records: Sequence[R]) -> Sequence[R]:
        """Insert each whose id and unique texts are free, in one step and in this order, and return those as they are kept.

        The ids are different. An expired record is in the way like any other. Raises InvalidArgument for a text with NUL.
        """
        ...

    async def replace(self, record: R, *, note: AuditNote | None = None) -> R:
        """Put it in the place of the one that has its revision; raises Changed, AlreadyThere."""
        ...

    async def replace_all(self, records: Sequence[R]) -> int:
        """Put each in the place of the one that has its revision, in one step, and return how many were replaced.

        Records that somebody else changed or removed in the meantime are left out. Texts in unique fields stay.
        """
        ...

    async def take(self, tenant_id: TenantId, record_id: str, *, note: AuditNote | None = None) -> R | None:
        """Remove the record; of callers at the same time exactly one gets it."""
        ...

    async def remove(self, tenant_id: TenantId, field: str, text: str) -> int:
        """Remove the records with this text in a unique or indexed field, and say how many they were."""
        ...

    async def remove_some(self, tenant_id: TenantId, *, most: int) -> int:
        """Remove records of a tenant in one step, `most` at the most, and return how many they were."""
        ...

    async def remove_expired(self, *, most: int = 1000) -> int:
        """Remove expired records of every tenant, `most` at the most, and return how many they were."""
        ...


class RecordStore(Protocol):
    def of(self, kind: Kind[R]) -> Records[R]: ...

    async def note(self, note: AuditNote) -> None:
        """Return when the audit log has a note of what was asked for and changed no record; raises Unavailable."""
        ...


class AuditLog(Protocol):
    """SQL that writes an audit entry in the statement of a change."""

    @property
    def is_open(self) -> bool:
        """Whether entries are written; until then changes are made without."""
        ...

    def clauses(self, first: int) -> str:
        """Write the entry if the clause `changed` has a row; parameters begin at number `first`."""
        ...

    def arguments(self, note: AuditNote) -> Sequence[object]: ...

    async def make_room(self, note: AuditNote) -> None:
        """Be called when the entry broke a check constraint, before the statement is repeated; raises Unavailable."""
        ...
