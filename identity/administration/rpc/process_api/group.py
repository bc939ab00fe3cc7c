"""GroupService of the process API."""

from gnomon.directory.v1 import group_service_pb2 as pb
from identity.access.rpc.operations import Operations, named
from identity.access.rpc.process_api_caller import ProcessApiCallers
from identity.administration.rpc.process_api.labels import GROUP_LISTING, GROUP_NAMES, group_message
from identity.administration.rpc.process_api.members import Members, Membership
from identity.directory.labels import Group
from identity.foundation.tenants import Tenant
from identity.people.labels import Labels
from identity.people.rpc.labels import LabelChanges
from server.platform.call import Call


class GroupServicer(Operations):
    def __init__(self, api_callers: ProcessApiCallers, groups: Labels[Group], members: Members) -> None:
        self._groups = groups
        self._members = members
        changes = LabelChanges(
            labels=groups, kind=Group, id_field="group_id", names=GROUP_NAMES, find=groups.named
        )
        of_group = members.searches(Membership.GROUP, self._name)
        super().__init__(
            api_callers,
            {
                pb.CreateGroupRequest: changes.create,
                pb.SearchGroupsRequest: GROUP_LISTING.over(groups.search),
                pb.GetGroupRequest: named(groups.named, name="group_id"),
                pb.UpdateGroupRequest: changes.update,
                pb.DeleteGroupRequest: changes.remove,
                pb.SearchUsersForGroupRequest: of_group.users,
                pb.SearchClientsForGroupRequest: of_group.clients,
                pb.SearchMappingRulesForGroupRequest: of_group.mapping_rules,
                pb.SearchRolesForGroupRequest: self._search_roles,
            },
            shows={Group: group_message},
        )

    async def _search_roles(
        self, tenant: Tenant, request: pb.SearchRolesForGroupRequest
    ) -> pb.SearchRolesForGroupResponse:
        group = await self._groups.named(tenant, request.group_id)
        return await self._members.roles_of(tenant, group, request, pb.SearchRolesForGroupResponse)

    async def _name(self, tenant: Tenant, group_id: str, _call: Call) -> str:
        return (await self._groups.named(tenant, group_id)).name
