"""GroupService of the process API."""

from dataclasses import replace

from gnomon.directory.v1 import group_service_pb2 as pb
from identity.access.rpc.process_api_caller import ProcessApiCallers
from identity.administration.rpc.process_api.labels import GROUP_LISTING, description_of, group_message
from identity.administration.rpc.process_api.members import Members, Membership
from identity.directory.labels import Group
from identity.people.labels import Labels
from server.platform.call import Call


class GroupServicer:
    def __init__(self, api_callers: ProcessApiCallers, groups: Labels[Group], members: Members) -> None:
        self._api_callers = api_callers
        self._groups = groups
        self._members = members

    async def create_group(self, request: pb.CreateGroupRequest, call: Call) -> pb.CreateGroupResponse:
        tenant, actor = self._api_callers.tenant(call), await self._api_callers.actor(call)
        group = Group(
            tenant_id=tenant.tenant_id,
            id="",
            name=request.group_id,
            display_name=request.name,
            description=description_of(request),
        )
        created = await self._groups.add(tenant, group, actor, note=self._api_callers.note(call))
        return pb.CreateGroupResponse(group=group_message(created))

    async def search_groups(self, request: pb.SearchGroupsRequest, call: Call) -> pb.SearchGroupsResponse:
        groups = await self._groups.all(self._api_callers.tenant(call))
        return GROUP_LISTING.answer(groups, request, pb.SearchGroupsResponse)

    async def get_group(self, request: pb.GetGroupRequest, call: Call) -> pb.GetGroupResponse:
        group = await self._groups.named(self._api_callers.tenant(call), request.group_id)
        return pb.GetGroupResponse(group=group_message(group))

    async def update_group(self, request: pb.UpdateGroupRequest, call: Call) -> pb.UpdateGroupResponse:
        tenant, actor = self._api_callers.tenant(call), await self._api_callers.actor(call)
        group = await self._groups.named(tenant, request.group_id)

        def changed(group: Group) -> Group:
            return replace(group, display_name=request.name, description=description_of(request))

        kept = await self._groups.change(
            tenant, group.id, actor, changed=changed, note=self._api_callers.note(call)
        )
        return pb.UpdateGroupResponse(group=group_message(kept))

    async def delete_group(self, request: pb.DeleteGroupRequest, call: Call) -> pb.DeleteGroupResponse:
        tenant, actor = self._api_callers.tenant(call), await self._api_callers.actor(call)
        group = await self._groups.named(tenant, request.group_id)
        await self._groups.remove(tenant, group.id, actor, note=self._api_callers.note(call))
        return pb.DeleteGroupResponse()

    async def search_users_for_group(
        self, request: pb.SearchUsersForGroupRequest, call: Call
    ) -> pb.SearchUsersForGroupResponse:
        tenant, response = self._api_callers.tenant(call), pb.SearchUsersForGroupResponse
        group = await self._groups.named(tenant, request.group_id)
        return await self._members.users(
            tenant, Membership.GROUP, group.name, request=request, response=response
        )

    async def search_clients_for_group(
        self, request: pb.SearchClientsForGroupRequest, call: Call
    ) -> pb.SearchClientsForGroupResponse:
        tenant, response = self._api_callers.tenant(call), pb.SearchClientsForGroupResponse
        group = await self._groups.named(tenant, request.group_id)
        return await self._members.clients(
            tenant, Membership.GROUP, group.name, request=request, response=response
        )

    async def search_mapping_rules_for_group(
        self, request: pb.SearchMappingRulesForGroupRequest, call: Call
    ) -> pb.SearchMappingRulesForGroupResponse:
        tenant, response = self._api_callers.tenant(call), pb.SearchMappingRulesForGroupResponse
        group = await self._groups.named(tenant, request.group_id)
        return await self._members.mapping_rules(
            tenant, Membership.GROUP, group.name, request=request, response=response
        )

    async def search_roles_for_group(
        self, request: pb.SearchRolesForGroupRequest, call: Call
    ) -> pb.SearchRolesForGroupResponse:
        tenant = self._api_callers.tenant(call)
        group = await self._groups.named(tenant, request.group_id)
        return await self._members.roles_of(tenant, group, request, pb.SearchRolesForGroupResponse)
