"""RoleService of the process API."""

from functools import partial

from gnomon.directory.v1 import role_service_pb2 as pb
from identity.access.rpc.operations import Operations
from identity.access.rpc.process_api_caller import ProcessApiCallers
from identity.access.rpc.searches import found_with
from identity.administration.rpc.process_api.labels import (
    ROLE_LISTING,
    ROLE_NAMES,
    built_in_roles,
    role_message,
)
from identity.administration.rpc.process_api.members import Members, Membership
from identity.directory.holdings import ADMINISTRATOR_ROLES
from identity.directory.labels import Role
from identity.foundation.tenants import Tenant
from identity.people.labels import Labels
from identity.people.rpc.labels import LabelChanges
from server.platform.call import Call
from server.platform.errors import InvalidState
from server.platform.query import Page, Query


class RoleServicer(Operations):
    def __init__(self, api_callers: ProcessApiCallers, roles: Labels[Role], members: Members) -> None:
        self._roles = roles
        changes = LabelChanges(
            labels=roles, kind=Role, id_field="role_id", names=ROLE_NAMES, find=self._changeable
        )
        of_role = members.searches(Membership.ROLE, self._name)
        super().__init__(
            api_callers,
            {
                pb.CreateRoleRequest: changes.create,
                pb.SearchRolesRequest: ROLE_LISTING.over(self._search),
                pb.GetRoleRequest: self._found,
                pb.UpdateRoleRequest: changes.update,
                pb.DeleteRoleRequest: changes.remove,
                pb.SearchUsersForRoleRequest: of_role.users,
                pb.SearchClientsForRoleRequest: of_role.clients,
                pb.SearchMappingRulesForRoleRequest: of_role.mapping_rules,
                pb.SearchGroupsForRoleRequest: of_role.groups,
            },
            shows={Role: role_message},
        )

    async def _search(self, tenant: Tenant, query: Query) -> Page[Role]:
        return await found_with(built_in_roles(tenant), query, partial(self._roles.search, tenant))

    async def _name(self, tenant: Tenant, role_id: str, _call: Call) -> str:
        return (await self._found(tenant, role_id)).name

    async def _found(self, tenant: Tenant, role_id: str) -> Role:
        built_in = (role for role in built_in_roles(tenant) if role.name == role_id)
        return next(built_in, None) or await self._roles.named(tenant, role_id)

    async def _changeable(self, tenant: Tenant, role_id: str) -> Role:
        if role_id in ADMINISTRATOR_ROLES:
            raise InvalidState(f"the role '{role_id}' is built in and cannot be changed")
        return await self._roles.named(tenant, role_id)
