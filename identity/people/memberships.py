"""Memberships: roles, groups and tenants of users, clients, groups, roles and mapping rules.

A membership is a name in the record of the member: the role of a group is in the group's record.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Generic, Protocol, TypeVar

from identity.access.administrators import Administrators
from identity.access.callers import Actor
from identity.directory.client import CLIENTS, Client
from identity.directory.labels import GROUPS, ROLES, Group, Role
from identity.directory.mapping_rule import MAPPING_RULES, MappingRule
from identity.directory.user import USERS, User
from identity.directory.users import find_by_name
from identity.directory.version import DirectoryVersion
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.record_changes import rewritten
from identity.foundation.tenants import Tenant, Tenants
from server.platform.audit import AuditNote
from server.platform.call import TenantId
from server.platform.errors import InvalidState, NotFound
from server.platform.records import Guard, Record, Records, RecordStore


class MemberKind(StrEnum):
    """Type of a member or of its label, as spelled in events."""

    ROLE = "role"
    GROUP = "group"
    TENANT = "tenant"
    MAPPING_RULE = "mapping rule"
    CLIENT = "client"
    USER = "user"


Names = tuple[str, ...]

R = TypeVar("R", bound=Record)

_MEMBERS = (Role, Group, MappingRule, Client, User)
_FIELDS = {MemberKind.ROLE: "roles", MemberKind.GROUP: "groups", MemberKind.TENANT: "tenant_ids"}


class Labels(Protocol):
    async def known(self, tenant: Tenant, names: Iterable[str]) -> frozenset[str]: ...


@dataclass(frozen=True, slots=True)
class Membership:
    """`name` is the name of a role or group, or the id of a tenant. Roles, groups and users as members go by name too."""

    member: MemberKind
    member_id: str
    of: MemberKind
    name: str


class Memberships:
    """Both methods raise NotFound when one of the two does not exist, and Unavailable after too many conflicts.

    They raise PermissionDenied when the role or group gives what the caller lacks; `unassign` also when the member needs
    the tenant for what the caller lacks, and InvalidState when nobody would administer without the membership. The audit
    log gets an entry even when the call changes nothing.
    """

    def __init__(
        self,
        store: RecordStore,
        tenants: Tenants,
        *,
        roles: Labels,
        groups: Labels,
        administrators: Administrators,
        version: DirectoryVersion,
        events: Events,
    ) -> None:
        self._members: Mapping[MemberKind, _Found] = {
            MemberKind.ROLE: _Members(store.of(ROLES), _by_name),
            MemberKind.GROUP: _Members(store.of(GROUPS), _by_name),
            MemberKind.MAPPING_RULE: _Members(store.of(MAPPING_RULES), _by_id),
            MemberKind.CLIENT: _Members(store.of(CLIENTS), _by_id),
            MemberKind.USER: _Members(store.of(USERS), _by_username),
        }
        self._labels = {MemberKind.ROLE: roles, MemberKind.GROUP: groups}
        self._store = store
        self._administrators = administrators
        self._tenants = tenants
        self._version = version
        self._events = events

    async def assign(self, tenant: Tenant, membership: Membership, actor: Actor, note: AuditNote) -> None:
        if membership.name in await self._names(tenant, membership):
            await self._store.note(note)
            return
        await self._expect_assignable(tenant, membership, actor)
        await self._write(
            *(tenant, membership, actor), changed=lambda names: (*names, membership.name), note=note
        )

    async def unassign(self, tenant: Tenant, membership: Membership, actor: Actor, note: AuditNote) -> None:
        names = await self._names(tenant, membership)
        if membership.name not in names:
            await self._store.note(note)
            return
        _expect_rest(membership, names)
        await self._expect_unassignable(tenant, membership, actor)
        await self._write(
            *(tenant, membership, actor),
            changed=partial(_without, membership),
            note=note,
        )

    async def _expect_assignable(self, tenant: Tenant, membership: Membership, actor: Actor) -> None:
        match membership.of:
            case MemberKind.ROLE:
                await self._administrators.expect_may_assign(tenant, actor, roles=(membership.name,))
            case MemberKind.GROUP:
                await self._administrators.expect_may_assign(tenant, actor, groups=(membership.name,))
            case _:
                return

    async def _expect_unassignable(self, tenant: Tenant, membership: Membership, actor: Actor) -> None:
        match membership.of:
            case MemberKind.ROLE:
                await self._administrators.expect_may_unassign(tenant, actor, roles=(membership.name,))
            case MemberKind.GROUP:
                await self._administrators.expect_may_unassign(tenant, actor, groups=(membership.name,))
            case _:
                return

    async def _names(self, tenant: Tenant, membership: Membership) -> Names:
        """Return all names of this kind that the member has."""
        if not await self._is_known(tenant, membership):
            raise NotFound(f"there is no such {membership.of}")
        return await self._members[membership.member].names(tenant, membership)

    async def _is_known(self, tenant: Tenant, membership: Membership) -> bool:
        if membership.of is not MemberKind.TENANT:
            return bool(await self._labels[membership.of].known(tenant, (membership.name,)))
        # Tenants belong to the deployment: administrators of another tenant see only their own.
        is_default = tenant == self._tenants.default
        return membership.name in (self._tenants.known if is_default else (tenant.tenant_id,))

    async def _write(
        self,
        tenant: Tenant,
        membership: Membership,
        actor: Actor,
        *,
        changed: Callable[[Names], Names],
        note: AuditNote,
    ) -> None:
        before, after = await self._members[membership.member].change(
            tenant, membership, changed, note, guard=partial(self._guard, actor)
        )
        await self._version.advance()
        if isinstance(before, User) and isinstance(after, User):
            await self._tell_of_user(before, after, actor)
            return
        await self._events.emit(
            tenant.tenant_id,
            EventType.CHANGED,
            text=f"{membership.member} {membership.member_id}",
            actor=actor,
        )

    async def _guard(self, actor: Actor, before: Record, after: Record) -> Guard | None:
        if not isinstance(before, _MEMBERS) or not isinstance(after, _MEMBERS):
            raise TypeError(f"a {type(before).__name__} has no memberships")
        return await self._administrators.guard(before, after, actor)

    async def _tell_of_user(self, before: User, after: User, actor: Actor) -> None:
        tell = partial(
            self._events.emit, after.tenant_id, user_id=after.id, ip=actor.peer_address or None, actor=actor
        )
        await tell(EventType.CHANGED, text=f"user {after.email}")
        if await self._administrators.makes(after) and not await self._administrators.makes(before):
            await tell(EventType.NEW_ADMINISTRATOR, text=after.email)


def _without(membership: Membership, names: Names) -> Names:
    _expect_rest(membership, names)
    return tuple(name for name in names if name != membership.name)


def _expect_rest(membership: Membership, names: Names) -> None:
    """Raise InvalidState for the only tenant of a user or client: without it, the tenant of the record would apply."""
    is_principal = membership.member in (MemberKind.USER, MemberKind.CLIENT)
    if membership.of is MemberKind.TENANT and is_principal and names == (membership.name,):
        raise InvalidState(f"expected the {membership.member} to keep a tenant, found its only one")


class _Found(Protocol):
    async def names(self, tenant: Tenant, membership: Membership) -> Names: ...

    async def change(
        self,
        tenant: Tenant,
        membership: Membership,
        changed: Callable[[Names], Names],
        note: AuditNote,
        *,
        guard: Callable[[Record, Record], Awaitable[Guard | None]],
    ) -> tuple[Record, Record]: ...


class _Members(Generic[R]):
    def __init__(
        self, records: Records[R], find: Callable[[Records[R], TenantId, str], Awaitable[R | None]]
    ) -> None:
        self._records = records
        self._find = find

    async def names(self, tenant: Tenant, membership: Membership) -> Names:
        found: Names = getattr(await self._get(tenant, membership), _FIELDS[membership.of])
        return found

    async def change(
        self,
        tenant: Tenant,
        membership: Membership,
        changed: Callable[[Names], Names],
        note: AuditNote,
        *,
        guard: Callable[[Record, Record], Awaitable[Guard | None]],
    ) -> tuple[Record, Record]:
        """Return the record before and after the change."""
        field, found = _FIELDS[membership.of], []

        def change(record: R) -> R:
            found.append(record)
            names = dict.fromkeys(changed(getattr(record, field)))
            return replace(record, **{field: tuple(names)})  # type: ignore[arg-type]  # a field of names

        kept = await rewritten(
            self._records, lambda: self._get(tenant, membership), change, note=note, guard=guard
        )
        return found[-1], kept

    async def _get(self, tenant: Tenant, membership: Membership) -> R:
        record = await self._find(self._records, tenant.tenant_id, membership.member_id)
        if record is None:
            raise NotFound(f"there is no such {membership.member}")
        return record


async def _by_id(records: Records[R], tenant_id: TenantId, record_id: str) -> R | None:
    return await records.get(tenant_id, record_id)


async def _by_name(records: Records[R], tenant_id: TenantId, name: str) -> R | None:
    return next(iter(await records.find(tenant_id, "name", name, most=1)), None)


async def _by_username(records: Records[User], tenant_id: TenantId, username: str) -> User | None:
    return await find_by_name(records, tenant_id, username)
