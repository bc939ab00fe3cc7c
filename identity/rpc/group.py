"""GroupService."""

from dataclasses import replace

from gnomon.identity.v1 import group_service_pb2 as pb
from identity.admin.callers import Area, Right
from identity.admin.labels import Labels
from identity.directory.labels import Group
from identity.rpc.admission import Admission
from server.platform.call import Call


class GroupServicer:
    def __init__(self, admission: Admission, groups: Labels[Group]) -> None:
        self._admission = admission
        self._groups = groups

    async def list_groups(self, request: pb.ListGroupsRequest, _call: Call) -> pb.ListGroupsResponse:
        tenant, _ = await self._admission.of(request, Area.GROUPS, Right.READ)
        return pb.ListGroupsResponse(groups=map(_message, await self._groups.all(tenant)))

    async def create_group(self, request: pb.CreateGroupRequest, _call: Call) -> pb.CreateGroupResponse:
        tenant, actor = await self._admission.of(request, Area.GROUPS, Right.CREATE)
        group = Group(tenant_id=tenant.tenant_id, id="", name=request.name)
        return pb.CreateGroupResponse(group=_message(await self._groups.add(tenant, group, actor)))

    async def update_group(self, request: pb.UpdateGroupRequest, _call: Call) -> pb.UpdateGroupResponse:
        tenant, actor = await self._admission.of(request, Area.GROUPS, Right.UPDATE)
        changed = await self._groups.change(
            tenant, request.group_id, actor, changed=lambda group: replace(group, name=request.name)
        )
        return pb.UpdateGroupResponse(group=_message(changed))

    async def delete_group(self, request: pb.DeleteGroupRequest, _call: Call) -> pb.DeleteGroupResponse:
        tenant, actor = await self._admission.of(request, Area.GROUPS, Right.DELETE)
        await self._groups.remove(tenant, request.group_id, actor)
        return pb.DeleteGroupResponse()


def _message(group: Group) -> pb.Group:
    return pb.Group(id=group.id, name=group.name)
