"""RoleService of the process API."""

from dataclasses import replace

from gnomon.directory.v1 import role_service_pb2 as pb
from identity.access.callers import Actor
from identity.access.rpc.operations import Operations
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
from server.platform.audit import AuditNote
from server.platform.call import Call
from server.platform.errors import InvalidState


class RoleServicer(Operations):
    def __init__(self, api_callers: ProcessApiCallers, roles: Labels[Role], members: Members) -> None:
        self._roles = roles
        of_role = members.searches(Membership.ROLE, self._name)
        super().__init__(
            api_callers,
            {
                pb.CreateRoleRequest: self._create,
                pb.SearchRolesRequest: self._search,
                pb.GetRoleRequest: self._found,
                pb.UpdateRoleRequest: self._update,
                pb.DeleteRoleRequest: self._delete,
                pb.SearchUsersForRoleRequest: of_role.users,
                pb.SearchClientsForRoleRequest: of_role.clients,
                pb.SearchMappingRulesForRoleRequest: of_role.mapping_rules,
                pb.SearchGroupsForRoleRequest: of_role.groups,
            },
            shows={Role: role_message},
        )

    async def _create(
        self, tenant: Tenant, request: pb.CreateRoleRequest, actor: Actor, note: AuditNote
    ) -> Role:
        role = Role(
            tenant_id=tenant.tenant_id,
            id="",
            name=request.role_id,
            display_name=request.name,
            description=description_of(request),
        )
        return await self._roles.add(tenant, role, actor, note=note)

    async def _search(self, tenant: Tenant, request: pb.SearchRolesRequest) -> pb.SearchRolesResponse:
        roles = (*built_in_roles(tenant), *await self._roles.all(tenant))
        return ROLE_LISTING.answer(roles, request, pb.SearchRolesResponse)

    async def _update(
        self, tenant: Tenant, request: pb.UpdateRoleRequest, actor: Actor, note: AuditNote
    ) -> Role:
        role = await self._changeable(tenant, request.role_id)

        def changed(role: Role) -> Role:
            return replace(role, display_name=request.name, description=description_of(request))

        return await self._roles.change(tenant, role.id, actor, changed=changed, note=note)

    async def _delete(self, tenant: Tenant, role_id: str, actor: Actor, note: AuditNote) -> None:
        role = await self._changeable(tenant, role_id)
        await self._roles.remove(tenant, role.id, actor, note=note)

    async def _name(self, tenant: Tenant, role_id: str, _call: Call) -> str:
        return (await self._found(tenant, role_id)).name

    async def _found(self, tenant: Tenant, role_id: str) -> Role:
        built_in = (role for role in built_in_roles(tenant) if role.name == role_id)
        return next(built_in, None) or await self._roles.named(tenant, role_id)

    async def _changeable(self, tenant: Tenant, role_id: str) -> Role:
        if role_id in ADMINISTRATOR_ROLES:
            raise InvalidState(f"the role '{role_id}' is built in and cannot be changed")
        return await self._roles.named(tenant, role_id)
