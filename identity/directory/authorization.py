"""An authorization, which opens operations of the process API to its owner.

The contract determines the operations that a permission type opens, and the permissions that these otherwise need.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from identity.foundation.vocabulary import Permission
from server.platform.call import ANY_RESOURCE, Grant
from server.platform.policy import policies_of, services
from server.platform.records import Kind, Owner, Record

COMPONENT, ACCESS = "COMPONENT", "ACCESS"
"""The resource type of web applications, and its permission type. Both open no operation: applications ask for them."""


class OwnerType(StrEnum):
    USER = "USER"
    CLIENT = "CLIENT"
    ROLE = "ROLE"
    GROUP = "GROUP"
    MAPPING_RULE = "MAPPING_RULE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorization(Record):
    """`id` is the key in decimal. `owner` is the type and the id of the owner's record, which no rename changes.

    Built-in roles have no record and are named. `owner_id` is the owner's name in the process API at the last change.
    """

    owner: str
    owner_type: OwnerType
    owner_id: str
    resource_type: str
    resource_id: str
    permission_types: tuple[str, ...]

    @property
    def resource_property_name(self) -> None:
        """Authorizations by properties are refused."""
        return

    @property
    def grants(self) -> Iterator[Grant]:
        for permission_type in self.permission_types:
            yield Grant(self.resource_type, permission_type, self.resource_id)


def owner_text(owner_type: OwnerType, record_id: str) -> str:
    """Return the text by which authorizations name their owner."""
    return f"{owner_type}:{record_id}"


AUTHORIZATIONS = Kind(
    Authorization,
    "directory_authorization",
    indexed=("owner",),
    owners=(
        Owner("user", "owner", "USER:{}"),
        Owner("client", "owner", "CLIENT:{}"),
        Owner("role", "owner", "ROLE:{}"),
        Owner("group", "owner", "GROUP:{}"),
        Owner("mapping_rule", "owner", "MAPPING_RULE:{}"),
    ),
    outlives=("owner_id",),
    derived=("owner_type", "owner_id", "resource_type", "resource_id", "resource_property_name"),
)


@cache
def permission_types() -> Mapping[str, Mapping[str, frozenset[Permission]]]:
    """Return the permission types of each resource type, with the permissions of the operations that they open."""
    found: dict[str, dict[str, frozenset[Permission]]] = {COMPONENT: {ACCESS: frozenset()}}
    for policy in (policy for service in services() for policy in policies_of(service).values()):
        for rule in policy.authorizations:
            of_type = found.setdefault(rule.resource_type, {})
            needed = frozenset(map(Permission, (policy.permission, *rule.further_permissions)))
            for name in rule.permission_types:
                of_type[name] = of_type.get(name, frozenset()) | needed
    return found


def lacking(
    grants: Iterable[Grant], permissions: Collection[Permission], own: Collection[Grant]
) -> Iterator[Grant]:
    """Return the grants that open more than `permissions` and the grants `own` together."""
    for grant in grants:
        needed = permission_types().get(grant.resource_type, {}).get(grant.permission_type, frozenset())
        is_held = grant in own or grant._replace(resource_id=ANY_RESOURCE) in own
        if not is_held and not needed.issubset(permissions):
            yield grant
