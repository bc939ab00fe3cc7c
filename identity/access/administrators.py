"""Protects administrators from API keys, and limits the permissions that a caller can pass on.

An API key cannot create or change an administrator: it could gain that administrator's rights. Users, clients, labels
and providers of a tenant are checked here before each change. A caller can give a client, a label or the owner of an
authorization only rights that the caller has.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import msgspec

from identity.access.callers import Actor, ActorKind
from identity.directory.authorization import OwnerType, lacking, owner_text
from identity.directory.claims import Claims, claims_of
from identity.directory.client import Client
from identity.directory.holdings import Standing
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Anybody:
    """A hypothetical principal that has these roles and groups only."""

    tenant_id: TenantId
    roles: tuple[str, ...]
    groups: tuple[str, ...] = ()
    tenant_ids: tuple[TenantId, ...] = ()
    permissions: tuple[Permission, ...] = ()


class Administrators:
    def __init__(self, standings: Standings) -> None:
        self._standings = standings

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

    async def expect_may_redirect(self, rule: MappingRule, actor: Actor) -> None:
        """Raise PermissionDenied when the changed rule would give other principals a right that the caller lacks."""
        anybody = _Anybody(tenant_id=rule.tenant_id, roles=rule.roles, groups=rule.groups)
        standing = await self._standings.of(anybody)
        grants = await self._standings.granted_to(rule.tenant_id, owner_text(OwnerType.MAPPING_RULE, rule.id))
        tenant_ids = standing.tenant_ids.union(rule.tenant_ids)
        self._expect_may_pass_on(Standing(tenant_ids, standing.permissions, standing.grants | grants), actor)

    def _expect_may_pass_on(self, standing: Standing, actor: Actor) -> None:
        self.expect_may_give(standing.permissions, actor)
        self.expect_may_grant(standing.grants, actor)
        if not actor.is_administrator and not standing.tenant_ids <= actor.tenant_ids:
            raise PermissionDenied("this gives access to a tenant in which the caller may not act")

    async def expect_may_take_over(self, user: User, actor: Actor) -> None:
        """Raise PermissionDenied for a caller that could gain rights of the user by a new password or address.

        Users who administer the tenant may.
        """
        is_client = actor.kind is ActorKind.CLIENT
        if actor.is_administrator or (not is_client and Permission.IDENTITY_WRITE in actor.permissions):
            return
        standing = await self._standings.of(user, _claims_of_person(user))
        has_more = bool(standing.permissions - actor.permissions) or any(
            lacking(standing.grants, actor.permissions, actor.grants)
        )
        if has_more or not standing.tenant_ids <= actor.tenant_ids:
            raise PermissionDenied(
                "the user may do what the caller may not, so the caller cannot change this"
            )

    async def expect_may_widen(self, before: Label | None, after: Label, actor: Actor) -> None:
        """Raise PermissionDenied when holders of the label get what the caller lacks and they did not have before."""
        old = await self._given_by(before) if before is not None else Standing(frozenset(), frozenset())
        new = await self._given_by(after)
        self.expect_may_give(new.permissions - old.permissions, actor)
        self.expect_may_grant(new.grants - old.grants, actor)

    async def _given_by(self, label: Label) -> Standing:
        """Return the rights that a principal has from this label."""
        match label:
            case Role():
                owner = owner_text(OwnerType.ROLE, label.id)
                grants = await self._standings.granted_to(label.tenant_id, owner)
                return Standing(frozenset(), frozenset(label.permissions), grants)
            case Group():
                anybody = _Anybody(tenant_id=label.tenant_id, roles=label.roles)
                return await self._standings.of(anybody)
            case _:
                return Standing(frozenset(), frozenset())

    async def makes(self, what: User | Client | Label) -> bool:
        """Whether the user or client is an administrator, or the label makes its holders administrators."""
        match what:
            case User():
                return (await self._standings.of(what, _claims_of_person(what))).administers
            case Client():
                return await self._client_administers(what)
            case _:
                return (await self._given_by(what)).administers

    async def among(self, users: Sequence[User]) -> frozenset[str]:
        """Return the ids of those of several users of one tenant that are administrators."""
        holders = ((user, _claims_of_person(user)) for user in users)
        standings = await self._standings.of_all(holders)
        return frozenset(
            user.id for user, standing in zip(users, standings, strict=True) if standing.administers
        )

    async def _client_administers(self, client: Client) -> bool:
        """Whether the client has `identity:write`, in its own name or as a scope of its users' tokens."""
        if Permission.IDENTITY_WRITE in client.oauth_scopes:
            return True
        return (await self._standings.of(client, _claims_of_client(client))).administers


def _claims_of_person(user: User) -> Claims:
    """Return the claims that a user's tokens may carry at any client, in the form that mapping rules compare."""
    own = {
        "sub": user.id,
        "email": user.email,
        "email_verified": user.is_email_verified,
        "roles": user.roles,
        "groups": user.groups,
    }
    attributes = {name: msgspec.Raw(text.encode()) for name, text in user.attributes.items()}
    return claims_of(msgspec.json.encode({**attributes, **own}))


def _claims_of_client(client: Client) -> Claims:
    """Return the claims that all tokens of a client carry, in the form that mapping rules compare."""
    at_root = claims_of(client.claims.encode()) if client.claims and client.claims_at_root else {}
    own = frozenset({client.id})
    return {**at_root, "sub": own, "azp": own}
