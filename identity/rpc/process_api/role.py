"""RoleService of the process API."""

from collections.abc import Iterable
from dataclasses import replace

from gnomon.directory.v1 import role_pb2 as entity_pb
from gnomon.directory.v1 import role_service_pb2 as pb
from identity.admin.labels import Labels
from identity.directory.labels import Role
from identity.directory.standing import ADMINISTRATOR_PERMISSIONS, ADMINISTRATOR_ROLES
from identity.rpc.acting import Acting
from identity.rpc.process_api.labels import description_of, searchable
from identity.rpc.searches import Listing
from identity.tenants import Tenant
from server.platform.call import Call
from server.platform.errors import InvalidState


class RoleServicer:
    def __init__(self, acting: Acting, roles: Labels[Role]) -> None:
        self._acting = acting
        self._roles = roles

    async def create_role(self, request: pb.CreateRoleRequest, call: Call) -> pb.CreateRoleResponse:
        tenant, actor = self._acting.tenant(call), await self._acting.actor(call)
        role = Role(
            tenant_id=tenant.tenant_id,
            id="",
            name=request.role_id,
            display_name=request.name,
            description=description_of(request),
        )
        created = await self._roles.add(tenant, role, actor, note=self._acting.note(call))
        return pb.CreateRoleResponse(role=_message(created))

    async def search_roles(self, request: pb.SearchRolesRequest, call: Call) -> pb.SearchRolesResponse:
        tenant = self._acting.tenant(call)
        roles = (*_built_in(tenant), *await self._roles.all(tenant))
        return ROLE_LISTING.answer(roles, request, pb.SearchRolesResponse)

    async def get_role(self, request: pb.GetRoleRequest, call: Call) -> pb.GetRoleResponse:
        tenant = self._acting.tenant(call)
        built_in = (role for role in _built_in(tenant) if role.name == request.role_id)
        role = next(built_in, None) or await self._roles.named(tenant, request.role_id)
        return pb.GetRoleResponse(role=_message(role))

    async def update_role(self, request: pb.UpdateRoleRequest, call: Call) -> pb.UpdateRoleResponse:
        tenant, actor = self._acting.tenant(call), await self._acting.actor(call)
        role = await self._changeable(tenant, request.role_id)

        def changed(role: Role) -> Role:
            return replace(role, display_name=request.name, description=description_of(request))

        kept = await self._roles.change(tenant, role.id, actor, changed=changed, note=self._acting.note(call))
        return pb.UpdateRoleResponse(role=_message(kept))

    async def delete_role(self, request: pb.DeleteRoleRequest, call: Call) -> pb.DeleteRoleResponse:
        tenant, actor = self._acting.tenant(call), await self._acting.actor(call)
        role = await self._changeable(tenant, request.role_id)
        await self._roles.remove(tenant, role.id, actor, note=self._acting.note(call))
        return pb.DeleteRoleResponse()

    async def _changeable(self, tenant: Tenant, role_id: str) -> Role:
        if role_id in ADMINISTRATOR_ROLES:
            raise InvalidState(f"the role '{role_id}' is built in and does not change")
        return await self._roles.named(tenant, role_id)


def _built_in(tenant: Tenant) -> Iterable[Role]:
    return (
        Role(tenant_id=tenant.tenant_id, id=name, name=name, permissions=ADMINISTRATOR_PERMISSIONS)
        for name in ADMINISTRATOR_ROLES
    )


def _message(role: Role) -> entity_pb.Role:
    return entity_pb.Role(role_id=role.name, name=role.shown_name, description=role.description)


ROLE_LISTING = Listing(searchable(Role, "role_id"), _message)
