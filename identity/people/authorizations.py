"""Authorizations of the process API: create, replace and remove.

They contain the ids of their owners, so that a new owner of an old name does not inherit them. The record of an owner
is removed before its authorizations, and looked up again after one was written, so that none remains.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from identity.access.administrators import Administrators
from identity.access.callers import Actor
from identity.directory.authorization import (
    AUTHORIZATIONS,
    Authorization,
    OwnerType,
    owner_text,
    permission_types,
)
from identity.directory.client import CLIENTS
from identity.directory.holdings import ADMINISTRATOR_ROLES
from identity.directory.labels import GROUPS, ROLES, Group, Role
from identity.directory.mapping_rule import MAPPING_RULES
from identity.directory.user import USERS
from identity.directory.users import find_by_name
from identity.directory.version import DirectoryVersion
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.audit import AuditNote
from server.platform.call import TenantId
from server.platform.errors import InvalidArgument, InvalidState, NotFound
from server.platform.query import Page, Query, Window, evaluate
from server.platform.records import AlreadyThere, Changed, Record, Records, RecordStore

_MOST_SORTED = 1000
_KEY_OCTETS = 8
# A key is a positive int64, and JavaScript reads it exactly.
_KEY_BITS = 53


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedAuthorization:
    """Requested content of an authorization."""

    owner_type: OwnerType
    owner_id: str
    resource_type: str
    resource_id: str
    permission_types: tuple[str, ...]


class Authorizations:
    def __init__(
        self,
        store: RecordStore,
        *,
        administrators: Administrators,
        version: DirectoryVersion,
        events: Events,
        randomness: Randomness,
    ) -> None:
        self._records = store.of(AUTHORIZATIONS)
        self._users = store.of(USERS)
        self._clients = store.of(CLIENTS)
        self._rules = store.of(MAPPING_RULES)
        self._labels: Mapping[OwnerType, Records[Role] | Records[Group]] = {
            OwnerType.ROLE: store.of(ROLES),
            OwnerType.GROUP: store.of(GROUPS),
        }
        self._administrators = administrators
        self._version = version
        self._events = events
        self._randomness = randomness

    async def search(self, tenant: Tenant, query: Query) -> Page[Authorization]:
        """Return the page of a query, with the present names of the owners.

        Up to 1000 matches are in the order of these names, and more in the order of the names at the last change.
        """
        if any(key.field.name == "owner_id" for key in query.sort):
            all_found = replace(query, window=Window(limit=_MOST_SORTED))
            whole = await self._records.search(tenant.tenant_id, all_found)
            if whole.total <= _MOST_SORTED:
                named = await self._named(tenant.tenant_id, whole.items)
                return evaluate(sorted(named, key=lambda each: each.id), query)
        page = await self._records.search(tenant.tenant_id, query)
        return replace(page, items=await self._named(tenant.tenant_id, page.items))

    async def owners_named(self, tenant: Tenant, name: str) -> Sequence[str]:
        """Return the texts by which authorizations name the owners that have this name at present."""
        found = [(each, await self._owner(tenant.tenant_id, each, name)) for each in OwnerType]
        return [owner_text(owner_type, record_id) for owner_type, record_id in found if record_id is not None]

    async def get(self, tenant: Tenant, key: int) -> Authorization:
        """Raises NotFound."""
        (found,) = await self._named(tenant.tenant_id, (await self._found(tenant.tenant_id, key),))
        return found

    async def add(
        self, tenant: Tenant, requested: RequestedAuthorization, actor: Actor, note: AuditNote
    ) -> Authorization:
        """Raises NotFound without such an owner, InvalidArgument, PermissionDenied."""
        wanted = await self._wanted(tenant.tenant_id, requested)
        await self._administrators.guard(None, wanted, actor)
        kept = await self._inserted(wanted, note)
        await self._expect_owner_still(kept, requested)
        await self._tell(tenant, EventType.CREATED, kept, actor)
        return kept

    async def change(
        self, tenant: Tenant, key: int, requested: RequestedAuthorization, actor: Actor, note: AuditNote
    ) -> Authorization:
        """Replace all but the key; raises the errors of `add`, and InvalidState when another caller was faster."""
        before = await self._found(tenant.tenant_id, key)
        wanted = replace(
            await self._wanted(tenant.tenant_id, requested), id=before.id, revision=before.revision
        )
        await self._administrators.guard(before, wanted, actor)
        try:
            kept = await self._records.replace(wanted, note=note)
        except Changed as error:
            raise InvalidState("another caller changed the authorization in the meantime") from error
        await self._expect_owner_still(kept, requested)
        await self._tell(tenant, EventType.CHANGED, kept, actor)
        return kept

    async def remove(self, tenant: Tenant, key: int, actor: Actor, note: AuditNote) -> None:
        """Raises NotFound, and PermissionDenied for an authorization that gives what the caller lacks."""
        await self._administrators.guard(await self._found(tenant.tenant_id, key), None, actor)
        taken = await self._records.take(tenant.tenant_id, str(key), note=note)
        if taken is None:
            raise NotFound("there is no such authorization")
        await self._tell(tenant, EventType.DELETED, taken, actor)

    async def _found(self, tenant_id: TenantId, key: int) -> Authorization:
        found = await self._records.get(tenant_id, str(key))
        if found is None:
            raise NotFound("there is no such authorization")
        return found

    async def _wanted(self, tenant_id: TenantId, requested: RequestedAuthorization) -> Authorization:
        known = permission_types()[requested.resource_type]
        unknown = [name for name in requested.permission_types if name not in known]
        if unknown:
            raise InvalidArgument(
                f"permissionTypes: {requested.resource_type} has {', '.join(sorted(known))}, found {unknown[0]}"
            )
        return Authorization(
            tenant_id=tenant_id,
            id="",
            owner=owner_text(requested.owner_type, await self._record_id(tenant_id, requested)),
            owner_type=requested.owner_type,
            owner_id=requested.owner_id,
            resource_type=requested.resource_type,
            resource_id=requested.resource_id,
            permission_types=requested.permission_types,
        )

    async def _inserted(self, wanted: Authorization, note: AuditNote) -> Authorization:
        while True:
            key = int.from_bytes(self._randomness.octets(_KEY_OCTETS)) >> (8 * _KEY_OCTETS - _KEY_BITS)
            if key == 0:
                continue
            try:
                return await self._records.insert(
                    replace(wanted, id=str(key)), note=replace(note, entity_id=str(key))
                )
            except AlreadyThere:
                continue

    async def _record_id(self, tenant_id: TenantId, requested: RequestedAuthorization) -> str:
        """Return the id of the owner's record, or its name for a built-in role; raises NotFound."""
        found = await self._owner(tenant_id, requested.owner_type, requested.owner_id)
        if found is None:
            noun = requested.owner_type.replace("_", " ").lower()
            raise NotFound(f"there is no such {noun}")
        return found

    async def _owner(self, tenant_id: TenantId, owner_type: OwnerType, name: str) -> str | None:
        match owner_type:
            case OwnerType.USER:
                return _id(await find_by_name(self._users, tenant_id, name))
            case OwnerType.CLIENT:
                return _id(await self._clients.get(tenant_id, name))
            case OwnerType.MAPPING_RULE:
                return _id(await self._rules.get(tenant_id, name))
            case OwnerType.ROLE if name in ADMINISTRATOR_ROLES:
                return name
            case OwnerType.ROLE | OwnerType.GROUP:
                return _id(
                    next(iter(await self._labels[owner_type].find(tenant_id, "name", name, most=1)), None)
                )
            case never:
                assert_never(never)

    async def _expect_owner_still(self, kept: Authorization, requested: RequestedAuthorization) -> None:
        """Remove the authorization when its owner was removed in the meantime."""
        try:
            owner = owner_text(requested.owner_type, await self._record_id(kept.tenant_id, requested))
        except NotFound:
            owner = ""
        if owner != kept.owner:
            await self._records.take(kept.tenant_id, kept.id)
            raise NotFound("the owner was renamed or removed in the meantime")

    async def _named(self, tenant_id: TenantId, found: Sequence[Authorization]) -> Sequence[Authorization]:
        """Return the authorizations with the present names of owners whose name may have changed."""
        names: dict[str, str] = {}
        for owner_type, records in self._labels.items():
            labels = await records.find_any(tenant_id, "id", _record_ids(found, owner_type))
            names.update((owner_text(owner_type, label.id), label.name) for label in labels)
        users = await self._users.find_any(tenant_id, "id", _record_ids(found, OwnerType.USER))
        names.update((owner_text(OwnerType.USER, user.id), user.username) for user in users)
        return [replace(each, owner_id=names.get(each.owner, each.owner_id)) for each in found]

    async def _tell(self, tenant: Tenant, event_type: EventType, kept: Authorization, actor: Actor) -> None:
        await self._version.advance()
        text = f"authorization of {kept.owner_type.replace('_', ' ').lower()} {kept.owner_id}"
        await self._events.emit(tenant.tenant_id, event_type, text=text, actor=actor)


def _id(record: Record | None) -> str | None:
    return record.id if record is not None else None


def _record_ids(found: Sequence[Authorization], owner_type: OwnerType) -> frozenset[str]:
    prefix = owner_text(owner_type, "")
    return frozenset(each.owner.removeprefix(prefix) for each in found if each.owner_type is owner_type)
