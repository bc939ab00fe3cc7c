"""GroupService of the process API."""

from dataclasses import replace

from gnomon.directory.v1 import group_pb2 as entity_pb
from gnomon.directory.v1 import group_service_pb2 as pb
from identity.admin.labels import Labels
from identity.directory.labels import Group
from identity.rpc.acting import Acting
from identity.rpc.process_api.labels import description_of, searchable
from identity.rpc.searches import Listing
from server.platform.call import Call


class GroupServicer:
    def __init__(self, acting: Acting, groups: Labels[Group]) -> None:
        self._acting = acting
        self._groups = groups

    async def create_group(self, request: pb.CreateGroupRequest, call: Call) -> pb.CreateGroupResponse:
        tenant, actor = self._acting.tenant(call), await self._acting.actor(call)
        group = Group(
            tenant_id=tenant.tenant_id,
            id="",
            name=request.group_id,
            display_name=request.name,
            description=description_of(request),
        )
        created = await self._groups.add(tenant, group, actor, note=self._acting.note(call))
        return pb.CreateGroupResponse(group=_message(created))

    async def search_groups(self, request: pb.SearchGroupsRequest, call: Call) -> pb.SearchGroupsResponse:
        groups = await self._groups.all(self._acting.tenant(call))
        return GROUP_LISTING.answer(groups, request, pb.SearchGroupsResponse)

    async def get_group(self, request: pb.GetGroupRequest, call: Call) -> pb.GetGroupResponse:
        group = await self._groups.named(self._acting.tenant(call), request.group_id)
        return pb.GetGroupResponse(group=_message(group))

    async def update_group(self, request: pb.UpdateGroupRequest, call: Call) -> pb.UpdateGroupResponse:
        tenant, actor = self._acting.tenant(call), await self._acting.actor(call)
        group = await self._groups.named(tenant, request.group_id)

        def changed(group: Group) -> Group:
            return replace(group, display_name=request.name, description=description_of(request))

        kept = await self._groups.change(
            tenant, group.id, actor, changed=changed, note=self._acting.note(call)
        )
        return pb.UpdateGroupResponse(group=_message(kept))

    async def delete_group(self, request: pb.DeleteGroupRequest, call: Call) -> pb.DeleteGroupResponse:
        tenant, actor = self._acting.tenant(call), await self._acting.actor(call)
        group = await self._groups.named(tenant, request.group_id)
        await self._groups.remove(tenant, group.id, actor, note=self._acting.note(call))
        return pb.DeleteGroupResponse()


def _message(group: Group) -> entity_pb.Group:
    return entity_pb.Group(group_id=group.name, name=group.shown_name, description=group.description)


GROUP_LISTING = Listing(searchable(Group, "group_id"), _message)
