"""GroupService."""

from dataclasses import replace

from gnomon.identity.v1 import group_service_pb2 as pb
from gnomon.identity.v1 import user_pb2
from identity.access.rpc.admission import Admission
from identity.directory.labels import Group, Role
from identity.foundation.tenants import Tenant
from identity.people import names
from identity.people.labels import Labels
from server.platform.call import Call


class GroupServicer:
    def __init__(self, admission: Admission, groups: Labels[Group], roles: Labels[Role]) -> None:
        self._admission = admission
        self._groups = groups
        self._roles = roles

    async def list_groups(self, request: pb.ListGroupsRequest, _call: Call) -> pb.ListGroupsResponse:
        tenant, _ = await self._admission.of(request)
        return pb.ListGroupsResponse(groups=map(_message, await self._groups.all(tenant)))

    async def create_group(self, request: pb.CreateGroupRequest, _call: Call) -> pb.CreateGroupResponse:
        tenant, actor = await self._admission.of(request)
        roles = await self._known(tenant, request.roles)
        group = Group(tenant_id=tenant.tenant_id, id="", name=request.name, roles=roles)
        return pb.CreateGroupResponse(group=_message(await self._groups.add(tenant, group, actor)))

    async def update_group(self, request: pb.UpdateGroupRequest, _call: Call) -> pb.UpdateGroupResponse:
        tenant, actor = await self._admission.of(request)
        roles = await self._known(tenant, request.roles)

        def changed(group: Group) -> Group:
            given = roles if request.HasField("roles") else group.roles
            return replace(group, name=request.name, roles=given)

        group = await self._groups.change(tenant, request.group_id, actor, changed=changed)
        return pb.UpdateGroupResponse(group=_message(group))

    async def delete_group(self, request: pb.DeleteGroupRequest, _call: Call) -> pb.DeleteGroupResponse:
        tenant, actor = await self._admission.of(request)
        await self._groups.remove(tenant, request.group_id, actor)
        return pb.DeleteGroupResponse()

    async def _known(self, tenant: Tenant, given: user_pb2.Names) -> tuple[str, ...]:
        """Raises InvalidArgument."""
        return names.among(given.names, await self._roles.names(tenant), what="roles")


def _message(group: Group) -> pb.Group:
    return pb.Group(id=group.id, name=group.name, roles=group.roles)
