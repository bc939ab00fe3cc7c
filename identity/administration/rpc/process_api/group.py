"""GroupService of the process API."""

from dataclasses import replace

from gnomon.directory.v1 import group_service_pb2 as pb
from identity.access.callers import Actor
from identity.access.rpc.operations import Operations, named
from identity.access.rpc.process_api_caller import ProcessApiCallers
from identity.administration.rpc.process_api.labels import GROUP_LISTING, description_of, group_message
from identity.administration.rpc.process_api.members import Members, Membership
from identity.directory.labels import Group
from identity.foundation.tenants import Tenant
from identity.people.labels import Labels
from server.platform.audit import AuditNote
from server.platform.call import Call


class GroupServicer(Operations):
    def __init__(self, api_callers: ProcessApiCallers, groups: Labels[Group], members: Members) -> None:
        self._groups = groups
        self._members = members
        of_group = members.searches(Membership.GROUP, self._name)
        super().__init__(
            api_callers,
            {
                pb.CreateGroupRequest: self._create,
                pb.SearchGroupsRequest: self._search,
                pb.GetGroupRequest: named(groups.named, name="group_id"),
                pb.UpdateGroupRequest: self._update,
                pb.DeleteGroupRequest: self._delete,
                pb.SearchUsersForGroupRequest: of_group.users,
                pb.SearchClientsForGroupRequest: of_group.clients,
                pb.SearchMappingRulesForGroupRequest: of_group.mapping_rules,
                pb.SearchRolesForGroupRequest: self._search_roles,
            },
            shows={Group: group_message},
        )

    async def _create(
        self, tenant: Tenant, request: pb.CreateGroupRequest, actor: Actor, note: AuditNote
    ) -> Group:
        group = Group(
            tenant_id=tenant.tenant_id,
            id="",
            name=request.group_id,
            display_name=request.name,
            description=description_of(request),
        )
        return await self._groups.add(tenant, group, actor, note=note)

    async def _search(self, tenant: Tenant, request: pb.SearchGroupsRequest) -> pb.SearchGroupsResponse:
        return GROUP_LISTING.answer(await self._groups.all(tenant), request, pb.SearchGroupsResponse)

    async def _update(
        self, tenant: Tenant, request: pb.UpdateGroupRequest, actor: Actor, note: AuditNote
    ) -> Group:
        group = await self._groups.named(tenant, request.group_id)

        def changed(group: Group) -> Group:
            return replace(group, display_name=request.name, description=description_of(request))

        return await self._groups.change(tenant, group.id, actor, changed=changed, note=note)

    async def _delete(self, tenant: Tenant, group_id: str, actor: Actor, note: AuditNote) -> None:
        group = await self._groups.named(tenant, group_id)
        await self._groups.remove(tenant, group.id, actor, note=note)

    async def _search_roles(
        self, tenant: Tenant, request: pb.SearchRolesForGroupRequest
    ) -> pb.SearchRolesForGroupResponse:
        group = await self._groups.named(tenant, request.group_id)
        return await self._members.roles_of(tenant, group, request, pb.SearchRolesForGroupResponse)

    async def _name(self, tenant: Tenant, group_id: str, _call: Call) -> str:
        return (await self._groups.named(tenant, group_id)).name
