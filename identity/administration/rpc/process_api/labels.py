"""Common base of groups and roles, and their searches."""

from collections.abc import Iterable
from typing import Literal, Protocol, TypeVar

from gnomon.directory.v1 import group_pb2, role_pb2
from identity.access.rpc.searches import InMemorySearch, StoredSearch
from identity.directory.holdings import ADMINISTRATOR_PERMISSIONS, ADMINISTRATOR_ROLES
from identity.directory.labels import DescribedLabel, Group, Role
from identity.foundation.tenants import Tenant
from server.platform.query import Field, FieldType, Searchable

L = TypeVar("L", bound=DescribedLabel)

GROUP_NAMES = {"group_id": "name", "name": "display_name"}
ROLE_NAMES = {"role_id": "name", "name": "display_name"}

_ID = Field("name", FieldType.TEXT)


class Described(Protocol):
    """A request with an optional description."""

    @property
    def description(self) -> str: ...

    def HasField(self, name: Literal["description"], /) -> bool: ...  # noqa: N802  # the name of protobuf


def searchable(kind: type[L], id_field: str) -> Searchable[L]:
    """Return the field table of a label; `id_field` is the name of its id in the contract."""
    fields = {id_field: _ID, "name": Field("shown_name", FieldType.TEXT)}
    return Searchable(kind, key=_ID, fields=fields, derived={})


def description_of(request: Described) -> str | None:
    return request.description if request.HasField("description") else None


def built_in_roles(tenant: Tenant) -> Iterable[Role]:
    """Make the roles that exist without records."""
    return (
        Role(tenant_id=tenant.tenant_id, id=name, name=name, permissions=ADMINISTRATOR_PERMISSIONS)
        for name in ADMINISTRATOR_ROLES
    )


def group_message(group: Group) -> group_pb2.Group:
    return group_pb2.Group(group_id=group.name, name=group.shown_name, description=group.description)


def role_message(role: Role) -> role_pb2.Role:
    return role_pb2.Role(role_id=role.name, name=role.shown_name, description=role.description)


GROUP_LISTING = StoredSearch(searchable(Group, "group_id"), group_message)
ROLE_LISTING = StoredSearch(searchable(Role, "role_id"), role_message)
FEW_ROLES = InMemorySearch(searchable(Role, "role_id"), role_message)
