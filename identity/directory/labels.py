"""Labels of users and clients: groups, roles, scopes, types of authorization details and custom attributes."""

from dataclasses import dataclass
from datetime import datetime

from identity.foundation.searches import words_of
from identity.foundation.vocabulary import LATER_PERMISSIONS, Permission
from server.platform.call import TenantId
from server.platform.records import Kind, Record

# Maximum of scopes, and of types of authorization details, in a tenant: its metadata lists all of them.
MOST_SCOPES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Label(Record):
    """Records of users and clients hold the name, so a rename writes all of them."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedLabel(Label):
    """A label of the process API, whose id there is `name`. `display_name` is empty if users see the id."""

    display_name: str = ""
    description: str | None = None

    @property
    def shown_name(self) -> str:
        return self.display_name or self.name

    @property
    def words(self) -> frozenset[str]:
        return words_of(self.name, self.display_name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group(DescribedLabel):
    """A group of users and clients; it gives its roles, by name, and tenants.

    `external_id` is its id at the provisioning client, empty without one.
    """

    roles: tuple[str, ...] = ()
    tenant_ids: tuple[TenantId, ...] = ()
    external_id: str = ""
    created_at: datetime | None = None
    changed_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Role(DescribedLabel):
    """A role of users and clients; it gives permissions and tenants."""

    permissions: tuple[Permission, ...] = ()
    tenant_ids: tuple[TenantId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeDefinition(Label):
    """A custom scope of clients; it opens attributes in access tokens, and in ID tokens and userinfo."""

    attr_include_access: tuple[str, ...] = ()
    attr_include_id: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationDetailsType(Label):
    """A type of authorization details of clients: RFC 9396 §2. Pages show users `title` and `description`.

    `fields` is a JSON object of the fields that a detail may have. With `self_registration` clients that register
    themselves may have the type.
    """

    title: str
    description: str = ""
    fields: str = ""
    self_registration: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UserAttribute(Record):
    """A custom attribute; `id` is its name. Users may change their own value when it is `user_editable`."""

    desc: str = ""
    user_editable: bool = False


GROUPS = Kind(
    Group,
    "group",
    unique=("name",),
    derived=("roles", "tenant_ids", "shown_name"),
    words=("words",),
    owners=(),
)
ROLES = Kind(
    Role,
    "role",
    unique=("name",),
    derived=("tenant_ids", "shown_name"),
    words=("words",),
    later={"permissions": LATER_PERMISSIONS},
    owners=(),
)
SCOPE_DEFINITIONS = Kind(ScopeDefinition, "scope", unique=("name",), owners=())
AUTHORIZATION_DETAILS_TYPES = Kind(
    AuthorizationDetailsType, "authorization_details_type", unique=("name",), owners=()
)
USER_ATTRIBUTES = Kind(UserAttribute, "user_attribute", owners=())
