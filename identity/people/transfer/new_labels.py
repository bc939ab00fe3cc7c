"""Groups, roles and definitions of attributes that imported accounts need and that do not exist yet."""

from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from identity.access.callers import Actor
from identity.directory.labels import Group, Role, UserAttribute
from identity.foundation.tenants import Tenant
from identity.people import names
from identity.people.labels import Labels
from identity.people.transfer.account import ImportedUser, attributes_of
from identity.people.user_attributes import UserAttributes
from server.platform.errors import AlreadyExists, InvalidArgument, InvalidState, PermissionDenied


@dataclass(frozen=True, slots=True)
class WantedLabels:
    """Names that the accounts have."""

    groups: frozenset[str]
    roles: frozenset[str]
    attributes: frozenset[str]

    @classmethod
    def of(cls, imported: Sequence[ImportedUser]) -> Self:
        return cls(
            groups=frozenset(name for each in imported for name in each.change.groups or ()),
            roles=frozenset(name for each in imported for name in each.change.roles or ()),
            attributes=frozenset(name for each in imported for name in _attributes(each)),
        )


class Maker(Protocol):
    """Creates a label of each kind; raises AlreadyExists, InvalidArgument, InvalidState, PermissionDenied."""

    async def group(self, name: str) -> None: ...

    async def role(self, name: str) -> None: ...

    async def attribute(self, name: str) -> None: ...


class NewLabels:
    def __init__(
        self,
        groups: Labels[Group],
        roles: Labels[Role],
        attributes: UserAttributes,
        *,
        tenant: Tenant,
        actor: Actor,
    ) -> None:
        self._groups = groups
        self._roles = roles
        self._attributes = attributes
        self._tenant = tenant
        self._actor = actor

    async def group(self, name: str) -> None:
        label = Group(tenant_id=self._tenant.tenant_id, id="", name=name)
        await self._groups.add(self._tenant, label, self._actor)

    async def role(self, name: str) -> None:
        label = Role(tenant_id=self._tenant.tenant_id, id="", name=name)
        await self._roles.add(self._tenant, label, self._actor)

    async def attribute(self, name: str) -> None:
        await self._attributes.add(UserAttribute(tenant_id=self._tenant.tenant_id, id=name), self._actor)


class RehearsedLabels:
    """Creates nothing, and refuses names that cannot be created."""

    async def group(self, name: str) -> None:
        names.group(name)

    async def role(self, name: str) -> None:
        names.label(name)

    async def attribute(self, name: str) -> None:
        names.attribute(name)


async def made(wanted: Collection[str], make: Callable[[str], Awaitable[None]]) -> frozenset[str]:
    """Create the labels and return the names of those that exist afterwards."""
    found: set[str] = set()
    for name in sorted(wanted):
        try:
            await make(name)
        except AlreadyExists:
            # Another caller was faster.
            found.add(name)
        except InvalidState:
            # The tenant has the maximum number already.
            break
        except (InvalidArgument, PermissionDenied):
            continue
        else:
            found.add(name)
    return frozenset(found)


def _attributes(imported: ImportedUser) -> Iterator[str]:
    try:
        yield from attributes_of(imported.attributes)
    except InvalidArgument:
        # The account is refused.
        return
