"""Groups, roles and scopes: create, rename and remove, together with the records of all holders.

A rename writes holders first, so that an interrupted change can be repeated. They are written once more at the end,
because a holder may get the old name while the label still exists. A removal writes holders after the label is gone, and
any process finishes it.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from identity.access.administrators import Administrators
from identity.access.callers import Actor
from identity.directory.labels import Label
from identity.directory.version import DirectoryVersion
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import Randomness
from identity.foundation.removals import Removals
from identity.foundation.searches import RecordSearch, listed
from identity.foundation.tenants import Tenant
from identity.people.holders import Holders
from server.platform.audit import AuditNote
from server.platform.errors import AlreadyExists, InvalidState, NotFound
from server.platform.query import Page, Query
from server.platform.records import AlreadyThere, Changed, Kind, RecordStore, Removal, every

_ID_LENGTH = 24

L = TypeVar("L", bound=Label)


def _expect_nothing(_label: Label) -> None:
    """Accept every label."""


class Labels(Generic[L]):
    """`noun` is the word for the label in messages; `built_in` are names that cannot be changed.

    `expect` raises InvalidArgument for a label, and `most` is the maximum in a tenant, None for any number.
    """

    def __init__(
        self,
        noun: str,
        store: RecordStore,
        kind: Kind[L],
        *,
        checked: Callable[[str], str],
        built_in: Collection[str],
        holders: Holders,
        administrators: Administrators,
        removals: Removals,
        version: DirectoryVersion,
        events: Events,
        randomness: Randomness,
        expect: Callable[[L], None] = _expect_nothing,
        most: int | None = None,
    ) -> None:
        self._noun = noun
        self._kind = kind
        self._records = store.of(kind)
        self._checked = checked
        self._built_in = built_in
        self._holders = holders
        self._administrators = administrators
        self._removals = removals
        self._version = version
        self._events = events
        self._randomness = randomness
        self._expect = expect
        removals.first(kind, self._advance, self._withdraw)
        self._most = most

    async def all(self, tenant: Tenant) -> Sequence[L]:
        """Return every label, by id; their number may be large."""
        return [label async for label in every(self._records, tenant.tenant_id)]

    async def page(
        self, tenant: Tenant, wanted: RecordSearch, page_size: int, continuation_token: str
    ) -> tuple[Sequence[L], str]:
        """Return a page of labels, and the continuation token of the next one; raises InvalidArgument."""
        return await listed(
            self._records,
            tenant.tenant_id,
            wanted,
            page_size=page_size,
            continuation_token=continuation_token,
        )

    async def search(self, tenant: Tenant, query: Query) -> Page[L]:
        return await self._records.search(tenant.tenant_id, query)

    async def of_ids(self, tenant: Tenant, ids: Collection[str]) -> Sequence[L]:
        return await self._records.find_any(tenant.tenant_id, "id", ids)

    async def named_any(self, tenant: Tenant, names: Collection[str]) -> Sequence[L]:
        """Return the labels with one of these names, without built-in ones."""
        return await self._records.find_any(tenant.tenant_id, "name", names)

    async def known(self, tenant: Tenant, names: Iterable[str]) -> frozenset[str]:
        """Return those of the names that can be given to a holder."""
        asked = frozenset(names)
        found = await self._records.find_any(tenant.tenant_id, "name", asked.difference(self._built_in))
        return asked.intersection(self._built_in).union(label.name for label in found)

    async def get(self, tenant: Tenant, label_id: str) -> L:
        """Raises NotFound."""
        label = await self._records.get(tenant.tenant_id, label_id)
        if label is None:
            raise NotFound(f"there is no such {self._noun}")
        return label

    async def named(self, tenant: Tenant, name: str) -> L:
        """Raises NotFound, also for a built-in label, which has no record."""
        found = await self._records.find(tenant.tenant_id, "name", name, most=1)
        if not found:
            raise NotFound(f"there is no such {self._noun}")
        return found[0]

    async def add(self, tenant: Tenant, label: L, actor: Actor, *, note: AuditNote | None = None) -> L:
        """Insert a label under a new id; raises the errors of `change` except NotFound."""
        self._expect(label)
        await self._administrators.guard(None, label, actor)
        await self._expect_room(tenant)
        await self._expect_free(tenant, label.name)
        new = replace(label, id=self._randomness.alphanumeric(_ID_LENGTH))
        try:
            kept = await self._records.insert(new, note=note)
        except AlreadyThere as error:
            raise AlreadyExists(f"there is a {self._noun} of this name", field="name") from error
        await self._expect_no_removal(kept)
        await self._tell(tenant, EventType.CREATED, kept.name, actor)
        return kept

    async def change(
        self,
        tenant: Tenant,
        label_id: str,
        actor: Actor,
        *,
        changed: Callable[[L], L],
        note: AuditNote | None = None,
    ) -> L:
        """Replace the label by the result of `changed`.

        Raises NotFound, InvalidArgument, AlreadyExists, InvalidState, PermissionDenied.
        """
        before = await self.get(tenant, label_id)
        after = changed(before)
        self._expect(after)
        guard = await self._administrators.guard(before, after, actor)
        if after.name != before.name:
            await self._expect_free(tenant, after.name)
            await self._holders.rename(tenant.tenant_id, before.name, after.name)
        try:
            kept = await self._records.replace(after, note=note, guard=guard)
        except AlreadyThere as error:
            raise AlreadyExists(f"there is a {self._noun} of this name", field="name") from error
        except Changed as error:
            raise self._changed() from error
        if kept.name != before.name:
            await self._holders.rename(tenant.tenant_id, before.name, kept.name)
        await self._tell(tenant, EventType.CHANGED, kept.name, actor)
        return kept

    async def remove(
        self, tenant: Tenant, label_id: str, actor: Actor, *, note: AuditNote | None = None
    ) -> None:
        """Raises NotFound, InvalidState, and PermissionDenied for a label that gives what the caller lacks."""
        label = await self.get(tenant, label_id)
        guard = await self._administrators.guard(label, None, actor)
        try:
            await self._removals.take(
                self._kind, label, name=label.name, revision=label.revision, note=note, guard=guard
            )
        except Changed as error:
            raise self._changed() from error
        await self._report(tenant, EventType.DELETED, label.name, actor)

    async def _advance(self, _removal: Removal) -> None:
        await self._version.advance()

    async def _withdraw(self, removal: Removal) -> None:
        """Remove the name of a removed label from all holders, unless another label has got it since the first pass."""
        has_successor = removal.is_swept and await self._records.find(
            removal.tenant_id, "name", removal.name, most=1
        )
        if not has_successor:
            await self._holders.rename(removal.tenant_id, removal.name, "")

    async def _expect_no_removal(self, new: L) -> None:
        """Raise InvalidState, and take the new label back, if an earlier one of this name is being removed."""
        try:
            await self._removals.finish(new.tenant_id, self._kind, new.name)
        except InvalidState:
            await self._removals.take(self._kind, new, name=new.name)
            raise

    def _changed(self) -> InvalidState:
        return InvalidState(f"another caller changed the {self._noun} in the meantime")

    async def _expect_room(self, tenant: Tenant) -> None:
        most = self._most
        if most is not None and len(await self._records.page(tenant.tenant_id, most=most)) >= most:
            raise InvalidState(f"expected at most {most} of a kind: {self._noun}")

    async def _expect_free(self, tenant: Tenant, name: str) -> None:
        self._checked(name)
        if name in self._built_in or await self._records.find(tenant.tenant_id, "name", name, most=1):
            raise AlreadyExists(f"there is a {self._noun} of this name", field="name")
        await self._removals.finish(tenant.tenant_id, self._kind, name)

    async def _tell(self, tenant: Tenant, event_type: EventType, name: str, actor: Actor) -> None:
        await self._version.advance()
        await self._report(tenant, event_type, name, actor)

    async def _report(self, tenant: Tenant, event_type: EventType, name: str, actor: Actor) -> None:
        await self._events.emit(tenant.tenant_id, event_type, text=f"{self._noun} {name}", actor=actor)
