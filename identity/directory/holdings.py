"""Permissions and tenants of a principal: its own, and those from roles, groups and mapping rules."""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

from identity.directory.claims import Claims
from identity.directory.labels import Group, Role
from identity.directory.mapping_rule import MappingRule
from identity.foundation.vocabulary import Permission
from server.platform.call import TenantId

ADMINISTRATOR_ROLES = frozenset({"admin", "rauthy_admin"})
"""Built in: they are there in every tenant, and administer it."""

ADMINISTRATOR_PERMISSIONS = (Permission.IDENTITY_READ, Permission.IDENTITY_WRITE)


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
    """Roles, groups and mapping rules of a tenant; `tenant_ids` are the tenants that they may give."""

    roles: Collection[Role] = ()
    groups: Collection[Group] = ()
    rules: Collection[MappingRule] = ()
    tenant_ids: Collection[TenantId] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    tenant_ids: frozenset[TenantId]
    permissions: frozenset[Permission]

    @property
    def administers(self) -> bool:
        return Permission.IDENTITY_WRITE in self.permissions


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


def standing_of(holder: Holder, givers: Givers, claims: Claims) -> Standing:
    """Combine what the principal holds."""
    held = held_by(holder, givers, claims)
    given = {
        *_each(rule.tenant_ids for rule in held.rules),
        *_each(group.tenant_ids for group in held.groups),
        *_each(role.tenant_ids for role in held.roles),
    }
    return Standing(
        tenant_ids=frozenset(holder.tenant_ids) | given.intersection(givers.tenant_ids),
        permissions=frozenset(holder.permissions).union(
            _each(role.permissions for role in held.roles),
            ADMINISTRATOR_PERMISSIONS if held.built_in else (),
        ),
    )


_each = chain.from_iterable
