"""Limits what a caller can give and take: each change of what somebody has passes here.

A caller can give a client, a label or the owner of an authorization only rights that the caller has. A caller can take
only what it could give: a user, client, label, mapping rule or authorization with other rights stays, and so does a
membership that gives them. Callers with `identity:write` may take all rights in their tenant, users and clients their own.
An API key cannot create, change or remove an administrator: it could gain that administrator's rights.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from identity.access.callers import Actor, ActorKind
from identity.access.last_administrator import LastAdministrator, Subject
from identity.directory.authorization import Authorization, lacking
from identity.directory.client import Client
from identity.directory.holdings import Standing, claims_of_client, claims_of_person, owner_of
from identity.directory.labels import Group, Label, Role
from identity.directory.mapping_rule import MappingRule
from identity.directory.provider import ProviderFields
from identity.directory.standings import Standings
from identity.directory.tenants.ldap_directory import LdapFields
from identity.directory.user import User
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import Permission
from server.platform.call import Grant, TenantId
from server.platform.errors import PermissionDenied
from server.platform.records import Guard


@dataclass(frozen=True, slots=True, kw_only=True)
class _Anybody:
    """A hypothetical principal that has these roles and groups only."""

    tenant_id: TenantId
    roles: tuple[str, ...]
    groups: tuple[str, ...] = ()
    tenant_ids: tuple[TenantId, ...] = ()
    permissions: tuple[Permission, ...] = ()


_NOTHING = Standing(frozenset(), frozenset())


class Administrators:
    def __init__(self, standings: Standings, last: LastAdministrator) -> None:
        self._standings = standings
        self._last = last

    async def guard(self, before: Subject | None, after: Subject | None, actor: Actor) -> Guard | None:
        """Return the guard with which a change must be written, if it needs one.

        `before` is None for a new record, `after` for one that is removed. Raises PermissionDenied for a change that
        gives or takes what the caller lacks, and InvalidState for one that leaves nobody who administers.
        """
        for each in (before, after):
            if isinstance(each, User | Client | Label):
                await self.expect_may_change(each, actor)
        is_own = isinstance(before, User | Client) and _is_oneself(before, actor)
        if after is not None and not (is_own and isinstance(before, User)):
            await self._expect_may_give(before, after, actor)
        if before is None:
            return None
        if not (is_own or actor.is_api_key or _administers(actor)):
            _expect_may_take(before, await self._taken(before, after), actor)
        return await self._last.guard(before, after, administers_deployment=actor.administers_deployment)

    async def guard_ways_in(self, tenant_id: TenantId, source_id: str, actor: Actor) -> Guard | None:
        """Return the guard with which a provider or a directory must be removed or disabled.

        Raises InvalidState if nobody who administers could sign in without it.
        """
        return await self._last.guard_ways_in(
            tenant_id, source_id, administers_deployment=actor.administers_deployment
        )

    async def expect_may_change(self, what: User | Client | Label, actor: Actor) -> None:
        """Raise PermissionDenied for an API key when `what` is an administrator, or gives a holder these rights."""
        if actor.is_api_key and await self.makes(what):
            raise PermissionDenied("an API key cannot create or change administrators")

    async def expect_may_vouch(
        self, tenant: Tenant, fields: ProviderFields | LdapFields, actor: Actor
    ) -> None:
        """Raise PermissionDenied for an API key when a mapping of the provider or directory makes administrators."""
        anybody = _Anybody(
            tenant_id=tenant.tenant_id,
            roles=tuple(role for mapping in fields.mappings for role in mapping.roles),
            groups=tuple(group for mapping in fields.mappings for group in mapping.groups),
        )
        if actor.is_api_key and (await self._standings.of(anybody)).administers:
            raise PermissionDenied(
                "an API key cannot create or change a provider or directory that makes administrators"
            )

    def expect_may_give(self, permissions: Collection[Permission], actor: Actor) -> None:
        """Raise PermissionDenied when the caller lacks one of the permissions."""
        lacking = sorted(set(permissions) - actor.permissions)
        if lacking:
            raise PermissionDenied(f"the caller lacks {', '.join(lacking)} and cannot give it")

    def expect_may_grant(self, grants: Iterable[Grant], actor: Actor) -> None:
        """Raise PermissionDenied when a grant opens operations that the caller cannot call."""
        beyond = sorted(lacking(grants, actor.permissions, actor.grants))
        if beyond:
            resource_type, permission_type, resource_id = beyond[0]
            raise PermissionDenied(
                f"the caller lacks {permission_type} on {resource_type} '{resource_id}' and cannot give it"
            )

    async def expect_may_assign(
        self, tenant: Tenant, actor: Actor, *, roles: tuple[str, ...] = (), groups: tuple[str, ...] = ()
    ) -> None:
        """Raise PermissionDenied when the labels give what the caller lacks, or open another tenant."""
        anybody = _Anybody(tenant_id=tenant.tenant_id, roles=roles, groups=groups)
        self._expect_may_pass_on(await self._standings.of(anybody), actor)

    async def expect_may_unassign(
        self, tenant: Tenant, actor: Actor, *, roles: tuple[str, ...] = (), groups: tuple[str, ...] = ()
    ) -> None:
        """Raise PermissionDenied when the labels give what the caller lacks, unless the caller administers."""
        if not _administers(actor):
            anybody = _Anybody(tenant_id=tenant.tenant_id, roles=roles, groups=groups)
            if _is_beyond(await self._standings.of(anybody), actor):
                noun = "role" if roles else "group"
                raise PermissionDenied(
                    f"the {noun} gives what the caller lacks, so the caller cannot take it"
                )

    def _expect_may_pass_on(self, standing: Standing, actor: Actor) -> None:
        self.expect_may_give(standing.permissions, actor)
        self.expect_may_grant(standing.grants, actor)
        if not actor.is_administrator and not standing.tenant_ids <= actor.tenant_ids:
            raise PermissionDenied("this gives access to a tenant in which the caller may not act")

    async def expect_may_take_over(self, user: User, actor: Actor) -> None:
        """Raise PermissionDenied for a caller that could gain rights of the user by a new password or address.

        Users who administer the tenant may.
        """
        if actor.is_administrator or (actor.kind is not ActorKind.CLIENT and _administers(actor)):
            return
        _expect_may_take(user, await self._rights(user), actor)

    async def _expect_may_give(self, before: Subject | None, after: Subject, actor: Actor) -> None:
        match after:
            case MappingRule():
                if isinstance(before, MappingRule) and before.condition != after.condition:
                    self._expect_may_pass_on(await self._rights(before), actor)
            case Client():
                scopes = frozenset(before.oauth_scopes) if isinstance(before, Client) else frozenset()
                new = frozenset(after.oauth_scopes) - scopes
                self.expect_may_give([each for each in Permission if each in new], actor)
            case Label() | Authorization():
                old = _NOTHING if before is None or _is_ended(before, after) else await self._rights(before)
                given = _difference(await self._rights(after), old)
                self.expect_may_give(given.permissions, actor)
                self.expect_may_grant(given.grants, actor)
            case User():
                if actor.is_api_key or _administers(actor):
                    return
                old = _NOTHING if before is None or _is_ended(after, before) else await self._rights(before)
                self._expect_may_pass_on(_difference(await self._rights(after), old), actor)

    async def _taken(self, before: Subject, after: Subject | None) -> Standing:
        """Return the rights that the change takes; without a tenant nothing of the rest is left there."""
        old = await self._rights(before)
        if after is None or _is_ended(before, after):
            return old
        taken = _difference(old, await self._rights(after))
        return old if taken.tenant_ids else taken

    async def _rights(self, what: Subject) -> Standing:
        """Return the rights that a user or client has, or that the holders of something else have from it."""
        match what:
            case User():
                return await self._standings.of(what, claims_of_person(what))
            case Client():
                return await self._standings.of(what, claims_of_client(what))
            case Authorization():
                return Standing(frozenset(), frozenset(), frozenset(what.grants))
            case Role():
                given = Standing(frozenset(what.tenant_ids), frozenset(what.permissions))
            case Group() | MappingRule():
                groups = what.groups if isinstance(what, MappingRule) else ()
                anybody = _Anybody(
                    tenant_id=what.tenant_id, roles=what.roles, groups=groups, tenant_ids=what.tenant_ids
                )
                given = await self._standings.of(anybody)
            case _:
                return _NOTHING
        grants = await self._standings.granted_to(what.tenant_id, owner_of(what))
        return Standing(given.tenant_ids, given.permissions, given.grants | grants)

    async def makes(self, what: User | Client | Label) -> bool:
        """Whether the user or client is an administrator, or the label makes its holders administrators."""
        match what:
            case User():
                return (await self._standings.of(what, claims_of_person(what))).administers
            case Client():
                return await self._client_administers(what)
            case _:
                return (await self._rights(what)).administers

    async def among(self, users: Sequence[User]) -> frozenset[str]:
        """Return the ids of those of several users of one tenant that are administrators."""
        holders = ((user, claims_of_person(user)) for user in users)
        standings = await self._standings.of_all(holders)
        return frozenset(
            user.id for user, standing in zip(users, standings, strict=True) if standing.administers
        )

    async def _client_administers(self, client: Client) -> bool:
        """Whether the client has `identity:write`, in its own name or as a scope of its users' tokens."""
        if Permission.IDENTITY_WRITE in client.oauth_scopes:
            return True
        return (await self._standings.of(client, claims_of_client(client))).administers


def _is_oneself(principal: User | Client, actor: Actor) -> bool:
    kind = ActorKind.USER if isinstance(principal, User) else ActorKind.CLIENT
    return (actor.kind, actor.id) == (kind, principal.id)


def _administers(actor: Actor) -> bool:
    return actor.is_administrator or Permission.IDENTITY_WRITE in actor.permissions


def _expect_may_take(before: Subject, taken: Standing, actor: Actor) -> None:
    if not _is_beyond(taken, actor):
        return
    if isinstance(before, User | Client):
        noun = "user" if isinstance(before, User) else "client"
        raise PermissionDenied(f"the {noun} may do what the caller may not, so the caller cannot change this")
    raise PermissionDenied("this gives what the caller lacks, so the caller cannot take it")


def _is_beyond(standing: Standing, actor: Actor) -> bool:
    """Whether the rights are more than those of the caller."""
    return (
        bool(standing.permissions - actor.permissions)
        or any(lacking(standing.grants, actor.permissions, actor.grants))
        or not standing.tenant_ids <= actor.tenant_ids
    )


def _difference(old: Standing, new: Standing) -> Standing:
    return Standing(
        old.tenant_ids - new.tenant_ids, old.permissions - new.permissions, old.grants - new.grants
    )


def _is_ended(before: Subject, after: Subject) -> bool:
    """Whether the change ends a right as a whole, or ends it earlier."""
    match before, after:
        case User(), User():
            ends_earlier = after.valid_until is not None and (
                before.valid_until is None or after.valid_until < before.valid_until
            )
            return ends_earlier or (before.is_enabled and not after.is_enabled)
        case MappingRule(), MappingRule():
            return before.condition != after.condition
        case Authorization(), Authorization():
            return before.owner != after.owner
        case _:
            return False
