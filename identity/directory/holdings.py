"""Permissions and tenants of a principal: its own, and those from roles, groups and mapping rules."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

import msgspec

from identity.directory.authorization import Authorization, OwnerType, owner_text, permission_types
from identity.directory.claims import Claims, claims_of
from identity.directory.client import Client
from identity.directory.labels import Group, Role
from identity.directory.mapping_rule import MappingRule
from identity.directory.user import User
from identity.foundation.vocabulary import Permission
from server.platform.call import Grant, TenantId

ADMINISTRATOR_ROLES = frozenset({"admin", "rauthy_admin"})
"""Built in: they exist in every tenant, and administer it."""

ADMINISTRATOR_PERMISSIONS = (Permission.IDENTITY_READ, Permission.IDENTITY_WRITE)

_ADMINISTRATION: frozenset[Permission] = frozenset(ADMINISTRATOR_PERMISSIONS)


class Holder(Protocol):
    """A user or a client; roles and groups by name."""

    @property
    def roles(self) -> tuple[str, ...]: ...

    @property
    def groups(self) -> tuple[str, ...]: ...

    @property
    def tenant_ids(self) -> tuple[TenantId, ...]: ...

    @property
    def permissions(self) -> tuple[Permission, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Givers:
    """Roles, groups, mapping rules and authorizations of a tenant; `tenant_ids` are the tenants that they may give."""

    roles: Collection[Role] = ()
    groups: Collection[Group] = ()
    rules: Collection[MappingRule] = ()
    authorizations: Collection[Authorization] = ()
    tenant_ids: Collection[TenantId] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    tenant_ids: frozenset[TenantId]
    permissions: frozenset[Permission]
    grants: frozenset[Grant] = frozenset()

    @property
    def administers(self) -> bool:
        return Permission.IDENTITY_WRITE in self.permissions


def without_administration(standing: Standing) -> Standing:
    """Return the standing without the rights to see and change users, clients, labels and tenants."""
    types = permission_types()
    kept = (
        grant
        for grant in standing.grants
        if _ADMINISTRATION.isdisjoint(types.get(grant.resource_type, {}).get(grant.permission_type, ()))
    )
    return Standing(standing.tenant_ids, standing.permissions - _ADMINISTRATION, frozenset(kept))


@dataclass(frozen=True, slots=True)
class Held:
    """Roles and groups of a principal, its own and inherited ones; built-in roles have no record and appear as names."""

    roles: Collection[Role]
    groups: Collection[Group]
    rules: Collection[MappingRule]
    built_in: frozenset[str]


def held_by(holder: Holder, givers: Givers, claims: Claims) -> Held:
    """Unknown names are ignored, and so are rules whose claim does not match."""
    rules = [rule for rule in givers.rules if rule.is_met_by(claims)]
    group_names = {*holder.groups, *_each(rule.groups for rule in rules)}
    groups = [group for group in givers.groups if group.name in group_names]
    role_names = {
        *holder.roles,
        *_each(rule.roles for rule in rules),
        *_each(group.roles for group in groups),
    }
    roles = [role for role in givers.roles if role.name in role_names]
    return Held(roles, groups, rules, built_in=ADMINISTRATOR_ROLES & role_names)


def owner_of(what: object) -> str:
    """Return the text by which authorizations name a record; empty for a record that cannot own any."""
    match what:
        case User():
            return owner_text(OwnerType.USER, what.id)
        case Client():
            return owner_text(OwnerType.CLIENT, what.id)
        case Role():
            return owner_text(OwnerType.ROLE, what.id)
        case Group():
            return owner_text(OwnerType.GROUP, what.id)
        case MappingRule():
            return owner_text(OwnerType.MAPPING_RULE, what.id)
        case _:
            return ""


def standing_of(holder: Holder, givers: Givers, claims: Claims) -> Standing:
    """Combine what the principal holds."""
    held = held_by(holder, givers, claims)
    given = {
        *_each(rule.tenant_ids for rule in held.rules),
        *_each(group.tenant_ids for group in held.groups),
        *_each(role.tenant_ids for role in held.roles),
    }
    return Standing(
        tenant_ids=frozenset(holder.tenant_ids).union(filter(givers.tenant_ids.__contains__, given)),
        permissions=frozenset(holder.permissions).union(
            _each(role.permissions for role in held.roles),
            ADMINISTRATOR_PERMISSIONS if held.built_in else (),
        ),
        grants=frozenset(_grants(frozenset(owners_of(holder, held)), givers.authorizations)),
    )


def owners_of(holder: Holder, held: Held) -> Iterator[str]:
    """Return all owners that the principal counts as, in the form in which authorizations name them."""
    yield from map(owner_of, (holder, *held.roles, *held.groups, *held.rules))
    yield from (owner_text(OwnerType.ROLE, name) for name in held.built_in)


def _grants(owners: Collection[str], authorizations: Iterable[Authorization]) -> Iterator[Grant]:
    for authorization in authorizations:
        if authorization.owner in owners:
            yield from authorization.grants


def claims_of_person(user: User) -> Claims:
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


def claims_of_client(client: Client) -> Claims:
    """Return the claims that all tokens of a client carry, in the form that mapping rules compare."""
    at_root = claims_of(client.claims.encode()) if client.claims and client.claims_at_root else {}
    own = frozenset({client.id})
    return {**at_root, "sub": own, "azp": own}


_each = chain.from_iterable
