"""What people and clients are sorted by: groups, roles, scopes, and attributes beyond the standard ones."""

from dataclasses import dataclass

from identity.vocabulary import LATER_PERMISSIONS, Permission
from server.platform.call import TenantId
from server.platform.records import Kind, Record

# Of each kind, in a tenant.
MOST_LABELS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Label(Record):
    """People and clients carry the name, so a new name is written to each of them."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Group(Label):
    """To which people and clients belong; it gives its roles, by name, and tenants."""

    roles: tuple[str, ...] = ()
    tenant_ids: tuple[TenantId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Role(Label):
    """Which people and clients have; it gives permissions and tenants."""

    permissions: tuple[Permission, ...] = ()
    tenant_ids: tuple[TenantId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeDefinition(Label):
    """Which clients may ask for; it opens attributes in access tokens, and in ID tokens and userinfo."""

    attr_include_access: tuple[str, ...] = ()
    attr_include_id: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UserAttribute(Record):
    """`id` is the name; people may change their own value when it is `user_editable`."""

    desc: str = ""
    user_editable: bool = False


GROUPS = Kind(Group, "group", unique=("name",))
ROLES = Kind(Role, "role", unique=("name",), later={"permissions": LATER_PERMISSIONS})
SCOPE_DEFINITIONS = Kind(ScopeDefinition, "scope", unique=("name",))
USER_ATTRIBUTES = Kind(UserAttribute, "user_attribute")
