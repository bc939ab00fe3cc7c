"""The interface of a record store."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

from server.platform.audit import AuditNote
from server.platform.call import TenantId
from server.platform.query import Page, Query


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record of a tenant. The store increments `revision` with every change; expired records count as deleted.

    A record that replaces a deleted one starts at revision 1, so ids of records that are replaced must not be
    reused.
    """

    tenant_id: TenantId
    id: str
    revision: int = 0
    expires_at: datetime | None = None


R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class Owner:
    """A declaration that records belong to a record of the kind `kind`, the owner, and are removed with it.

    Their `field` has the text `form` with the owner's id. It is `id`, a lookup field, or the path of another field,
    with an index in the database.
    """

    kind: str
    field: str = "id"
    form: str = "{}"

    def text(self, owner_id: str) -> str:
        return self.form.format(owner_id)


@dataclass(frozen=True, slots=True, eq=False)
class Kind(Generic[R]):
    """Describes how records of a type are stored, in the table `identity.<name>`.

    `unique` and `indexed` are lookup fields: a text, or a tuple of texts, each of which finds the record; an
    empty text finds nothing. A `unique` field holds one text, which no other record of the tenant has.

    `derived` are attributes, text or texts, that the database computes from the content as generated columns,
    so that they are correct whichever program version wrote the record; look-ups and searches use them.
    `ordered` are the fields among all these whose order an index provides. `words` are attributes whose words an index finds by
    prefix. `scheduled` is the field with the time from which `due` returns the record.

    `owners` are the owners of a record; records without any belong to their tenant or to the deployment. `outlives` are
    fields that name other records without belonging to them: the record stays when they are removed. `named_by` is the
    field whose text is the id of an owner in records that belong to it.

    `later` lists texts of a list field that the previous version does not know. They are stored in a separate
    member that the previous version ignores, so that it can read the rest. `instead` lists such texts of a
    text field, each with a text that the previous version reads in its place.
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
    owners: tuple[Owner, ...] = field(kw_only=True)
    outlives: tuple[str, ...] = field(default=(), kw_only=True)
    named_by: str = field(default="id", kw_only=True)

    @property
    def owner_paths(self) -> tuple[str, ...]:
        """Fields that name owners and have no column."""
        columns = {"id", *self.unique, *self.indexed}
        return tuple(dict.fromkeys(owner.field for owner in self.owners if owner.field not in columns))


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal(Record):
    """The removal of an owner whose record is gone, until all records that belong to it are removed.

    `kind` and `owner_id` name the owner, and `further_tenants` have records that belong to it, too. `name` is what another record may be named later, empty for nothing; while the
    removal `is_reserving`, no other record gets the name. A process claims the removal with the next attempt. The
    removal `is_swept` once all records that belong to the owner were removed for the first time.
    """

    kind: str
    owner_id: str
    name: str = ""
    further_tenants: tuple[TenantId, ...] = ()
    removed_at: datetime
    next_at: datetime
    attempts: int = 0
    is_reserving: bool = True
    is_swept: bool = False

    @property
    def reserved(self) -> str:
        return reservation_of(self.kind, self.name) if self.name and self.is_reserving else ""


def reservation_of(kind: str, name: str) -> str:
    return f"{kind} {name}"


REMOVALS = Kind(
    Removal, "removal", indexed=("reserved",), scheduled="next_at", owners=(), outlives=("owner_id",)
)


@dataclass(frozen=True, slots=True)
class Guard:
    """A record that must be unchanged when another record is changed; the change increments its revision.

    Of several concurrent changes with the same guard only one is made.
    """

    kind: Kind[Any]
    record: Record


@dataclass(frozen=True, slots=True)
class Condition:
    """A record of the kind with this id exists and has a text in an indexed field."""

    kind: Kind[Any]
    tenant_id: TenantId
    record_id: str
    field: str


class AlreadyThere(Exception):
    """A record with this id, or with this text in a unique field, already exists."""

    def __init__(self, kind: str, field: str) -> None:
        super().__init__(f"there is a {kind} with this {field} already")
        self.field = field


class Changed(Exception):
    """The record was changed or removed concurrently."""


class Records(Protocol[R]):
    """The records of one kind. Every method raises Unavailable during an outage of the store.

    A `note` is written to the audit log if and only if the change is made.
    """

    async def get(self, tenant_id: TenantId, record_id: str) -> R | None: ...

    async def find(self, tenant_id: TenantId, field: str, text: str, *, most: int = 1000) -> Sequence[R]:
        """Return the records with this text in a field, the id, or a field of an owner, by id.

        The field is a unique, indexed or derived one.
        """
        ...

    async def find_any(self, tenant_id: TenantId, field: str, texts: Collection[str]) -> Sequence[R]:
        """Return the records with one of these texts in the field, by id.

        The field is the id, or a unique, indexed or derived field that holds one text.
        """
        ...

    async def due(self, tenant_id: TenantId, now: datetime, *, most: int) -> Sequence[R]:
        """Return the records whose scheduled time has come, by scheduled time and id."""
        ...

    async def due_tenants(self, now: datetime) -> Sequence[TenantId]:
        """Return the tenants that have due records, in order."""
        ...

    async def page(self, tenant_id: TenantId, *, after: str = "", most: int = 100) -> Sequence[R]:
        """Return the records after an id, by id."""
        ...

    async def search(self, tenant_id: TenantId, query: Query) -> Page[R]:
        """Return the page of a query over lookup fields, derived fields, words and the id."""
        ...

    async def matches(self, tenant_id: TenantId, query: Query) -> Sequence[R]:
        """Return only the page's records; the cost does not grow with the number of all matches."""
        ...

    async def insert(self, record: R, *, note: AuditNote | None = None) -> R:
        """Insert a record and return it as stored; raises AlreadyThere, or InvalidArgument for a lookup text with NUL."""
        ...

    async def insert_all(self, records: Sequence[R]) -> Sequence[R]:
        """Insert the records whose id and unique texts are free, atomically and in this order; return those inserted.

        The ids must be distinct. Expired records also occupy their id and texts. Raises InvalidArgument for a
        text with NUL.
        """
        ...

    async def replace(self, record: R, *, note: AuditNote | None = None, guard: Guard | None = None) -> R:
        """Replace the record with the same revision and return the new one; raises Changed or AlreadyThere.

        Raises Changed, too, when the record of `guard` has another revision.
        """
        ...

    async def replace_all(self, records: Sequence[R]) -> int:
        """Replace the records that have the same revision, atomically; return the number of replaced records.

        Records that were changed or removed meanwhile are skipped. Texts in unique fields must not change.
        """
        ...

    async def take(
        self,
        tenant_id: TenantId,
        record_id: str,
        *,
        note: AuditNote | None = None,
        revision: int | None = None,
        removal: Removal | None = None,
        guard: Guard | None = None,
    ) -> R | None:
        """Remove and return the record; of several concurrent callers exactly one receives it.

        With `revision`, raise Changed unless there is a record with that revision; with `guard`, unless the guard's
        record has its revision. A `removal` is inserted if and only if the record is removed.
        """
        ...

    async def remove(
        self,
        tenant_id: TenantId,
        field: str,
        text: str,
        *,
        most: int | None = None,
        condition: Condition | None = None,
    ) -> int:
        """Remove records with this text in a field of `find`, at most `most`, first ids first; return their number.

        None are removed unless the condition holds.
        """
        ...

    async def remove_some(self, tenant_id: TenantId, *, most: int, condition: Condition | None = None) -> int:
        """Remove at most `most` records of a tenant atomically, expired ones too; return their number.

        With a `condition`, nothing is removed unless it holds at the same moment.
        """
        ...

    async def remove_expired(self, *, most: int = 1000) -> int:
        """Remove at most `most` expired records of all tenants; return their number."""
        ...


class RecordStore(Protocol):
    def of(self, kind: Kind[R]) -> Records[R]: ...

    async def note(self, note: AuditNote) -> None:
        """Write an audit note for a request that changed no record; raises Unavailable."""
        ...


class AuditLog(Protocol):
    """SQL that writes an audit entry in the same statement as a change."""

    @property
    def is_open(self) -> bool:
        """Whether entries are written; otherwise changes are made without entries."""
        ...

    def clauses(self, first: int) -> str:
        """Return clauses that write the entry if the clause `changed` has a row; parameters start at number `first`."""
        ...

    def arguments(self, note: AuditNote) -> Sequence[object]: ...

    async def make_room(self, note: AuditNote) -> None:
        """Prepare for a repetition after the entry violated a check constraint; raises Unavailable."""
        ...
