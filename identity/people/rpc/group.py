"""GroupService."""

from dataclasses import replace

from gnomon.identity.v1 import group_service_pb2 as pb
from identity.access.callers import Actor
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named
from identity.directory.labels import Group, Role
from identity.foundation.tenants import Tenant
from identity.people import names
from identity.people.labels import Labels

Names = tuple[str, ...]


class GroupServicer(Operations):
    def __init__(self, admission: Admission, groups: Labels[Group], roles: Labels[Role]) -> None:
        self._groups = groups
        self._roles = roles
        super().__init__(
            admission,
            {
                pb.ListGroupsRequest: groups.all,
                pb.CreateGroupRequest: self._create,
                pb.UpdateGroupRequest: self._update,
                pb.DeleteGroupRequest: named(groups.remove, label_id="group_id"),
            },
        )

    async def _create(self, tenant: Tenant, name: str, roles: Names, actor: Actor) -> Group:
        known = await self._known(tenant, roles)
        return await self._groups.add(
            tenant, Group(tenant_id=tenant.tenant_id, id="", name=name, roles=known), actor
        )

    async def _update(
        self, tenant: Tenant, group_id: str, name: str, roles: Names | None, actor: Actor
    ) -> Group:
        known = await self._known(tenant, roles or ())

        def changed(group: Group) -> Group:
            return replace(group, name=name, roles=group.roles if roles is None else known)

        return await self._groups.change(tenant, group_id, actor, changed=changed)

    async def _known(self, tenant: Tenant, given: Names) -> Names:
        """Raises InvalidArgument."""
        return names.among(given, await self._roles.names(tenant), what="roles")
