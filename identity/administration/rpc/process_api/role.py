"""RoleService of the process API."""

from dataclasses import replace

from gnomon.directory.v1 import role_service_pb2 as pb
from identity.access.rpc.process_api_caller import ProcessApiCallers
from identity.administration.rpc.process_api.labels import (
    ROLE_LISTING,
    built_in_roles,
    description_of,
    role_message,
)
from identity.administration.rpc.process_api.members import Members, Membership
from identity.directory.holdings import ADMINISTRATOR_ROLES
from identity.directory.labels import Role
from identity.foundation.tenants import Tenant
from identity.people.labels import Labels
from server.platform.call import Call
from server.platform.errors import InvalidState


class RoleServicer:
    def __init__(self, api_callers: ProcessApiCallers, roles: Labels[Role], members: Members) -> None:
        self._api_callers = api_callers
        self._roles = roles
        self._members = members

    async def create_role(self, request: pb.CreateRoleRequest, call: Call) -> pb.CreateRoleResponse:
        tenant, actor = self._api_callers.tenant(call), await self._api_callers.actor(call)
        role = Role(
            tenant_id=tenant.tenant_id,
            id="",
            name=request.role_id,
            display_name=request.name,
            description=description_of(request),
        )
        created = await self._roles.add(tenant, role, actor, note=self._api_callers.note(call))
        return pb.CreateRoleResponse(role=role_message(created))

    async def search_roles(self, request: pb.SearchRolesRequest, call: Call) -> pb.SearchRolesResponse:
        tenant = self._api_callers.tenant(call)
        roles = (*built_in_roles(tenant), *await self._roles.all(tenant))
        return ROLE_LISTING.answer(roles, request, pb.SearchRolesResponse)

    async def get_role(self, request: pb.GetRoleRequest, call: Call) -> pb.GetRoleResponse:
        role = await self._found(self._api_callers.tenant(call), request.role_id)
        return pb.GetRoleResponse(role=role_message(role))

    async def update_role(self, request: pb.UpdateRoleRequest, call: Call) -> pb.UpdateRoleResponse:
        tenant, actor = self._api_callers.tenant(call), await self._api_callers.actor(call)
        role = await self._changeable(tenant, request.role_id)

        def changed(role: Role) -> Role:
            return replace(role, display_name=request.name, description=description_of(request))

        kept = await self._roles.change(
            tenant, role.id, actor, changed=changed, note=self._api_callers.note(call)
        )
        return pb.UpdateRoleResponse(role=role_message(kept))

    async def delete_role(self, request: pb.DeleteRoleRequest, call: Call) -> pb.DeleteRoleResponse:
        tenant, actor = self._api_callers.tenant(call), await self._api_callers.actor(call)
        role = await self._changeable(tenant, request.role_id)
        await self._roles.remove(tenant, role.id, actor, note=self._api_callers.note(call))
        return pb.DeleteRoleResponse()

    async def search_users_for_role(
        self, request: pb.SearchUsersForRoleRequest, call: Call
    ) -> pb.SearchUsersForRoleResponse:
        tenant, response = self._api_callers.tenant(call), pb.SearchUsersForRoleResponse
        role = await self._found(tenant, request.role_id)
        return await self._members.users(
            tenant, Membership.ROLE, role.name, request=request, response=response
        )

    async def search_clients_for_role(
        self, request: pb.SearchClientsForRoleRequest, call: Call
    ) -> pb.SearchClientsForRoleResponse:
        tenant, response = self._api_callers.tenant(call), pb.SearchClientsForRoleResponse
        role = await self._found(tenant, request.role_id)
        return await self._members.clients(
            tenant, Membership.ROLE, role.name, request=request, response=response
        )

    async def search_mapping_rules_for_role(
        self, request: pb.SearchMappingRulesForRoleRequest, call: Call
    ) -> pb.SearchMappingRulesForRoleResponse:
        tenant, response = self._api_callers.tenant(call), pb.SearchMappingRulesForRoleResponse
        role = await self._found(tenant, request.role_id)
        return await self._members.mapping_rules(
            tenant, Membership.ROLE, role.name, request=request, response=response
        )

    async def search_groups_for_role(
        self, request: pb.SearchGroupsForRoleRequest, call: Call
    ) -> pb.SearchGroupsForRoleResponse:
        tenant, response = self._api_callers.tenant(call), pb.SearchGroupsForRoleResponse
        role = await self._found(tenant, request.role_id)
        return await self._members.groups(
            tenant, Membership.ROLE, role.name, request=request, response=response
        )

    async def _found(self, tenant: Tenant, role_id: str) -> Role:
        built_in = (role for role in built_in_roles(tenant) if role.name == role_id)
        return next(built_in, None) or await self._roles.named(tenant, role_id)

    async def _changeable(self, tenant: Tenant, role_id: str) -> Role:
        if role_id in ADMINISTRATOR_ROLES:
            raise InvalidState(f"the role '{role_id}' is built in and does not change")
        return await self._roles.named(tenant, role_id)
