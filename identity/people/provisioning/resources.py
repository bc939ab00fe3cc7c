"""Resources of all kinds, and the operations on them."""

from dataclasses import dataclass
from typing import Protocol

from identity.access.callers import Actor
from identity.foundation.tenants import Tenant
from identity.people.provisioning.answers import WHOLE, Answer, Projection, Search
from identity.people.provisioning.documents import Members
from identity.people.provisioning.operation import Operation


class ResourcesOfKind(Protocol):
    async def search(self, tenant: Tenant, search: Search) -> Members:
        """Raises InvalidArgument."""
        ...

    async def get(self, tenant: Tenant, resource_id: str, projection: Projection = WHOLE) -> Answer:
        """Raises NotFound."""
        ...

    async def create(
        self, tenant: Tenant, operation: Operation, actor: Actor, projection: Projection = WHOLE
    ) -> Answer: ...

    async def replace(
        self, tenant: Tenant, operation: Operation, actor: Actor, projection: Projection = WHOLE
    ) -> Answer: ...

    async def patch(
        self, tenant: Tenant, operation: Operation, actor: Actor, projection: Projection = WHOLE
    ) -> Answer: ...

    async def delete(self, tenant: Tenant, operation: Operation, actor: Actor) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    users: ResourcesOfKind
    groups: ResourcesOfKind

    def of_kind(self, kind: str) -> ResourcesOfKind:
        return self.users if kind == "Users" else self.groups

    async def change(
        self, tenant: Tenant, operation: Operation, actor: Actor, projection: Projection = WHOLE
    ) -> Answer | None:
        """Carry out an operation; return the changed resource, None for a deleted one. Raises the errors of its method."""
        resources = self.of_kind(operation.kind)
        match operation.method:
            case "POST":
                return await resources.create(tenant, operation, actor, projection)
            case "PUT":
                return await resources.replace(tenant, operation, actor, projection)
            case "PATCH":
                return await resources.patch(tenant, operation, actor, projection)
            case _:
                await resources.delete(tenant, operation, actor)
                return None
