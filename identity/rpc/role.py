"""RoleService."""

from collections.abc import Iterable
from dataclasses import replace

from gnomon.identity.v1 import role_service_pb2 as pb
from identity.admin.callers import Area, Right
from identity.admin.labels import Labels
from identity.directory.labels import Role
from identity.directory.standing import ADMINISTRATOR_ROLES
from identity.rpc.admission import Admission
from server.platform.call import Call


class RoleServicer:
    def __init__(self, admission: Admission, roles: Labels[Role]) -> None:
        self._admission = admission
        self._roles = roles

    async def list_roles(self, request: pb.ListRolesRequest, _call: Call) -> pb.ListRolesResponse:
        tenant, _ = await self._admission.of(request, Area.ROLES, Right.READ)
        return pb.ListRolesResponse(roles=(*_built_in(), *map(_message, await self._roles.all(tenant))))

    async def create_role(self, request: pb.CreateRoleRequest, _call: Call) -> pb.CreateRoleResponse:
        tenant, actor = await self._admission.of(request, Area.ROLES, Right.CREATE)
        role = Role(tenant_id=tenant.tenant_id, id="", name=request.name)
        return pb.CreateRoleResponse(role=_message(await self._roles.add(tenant, role, actor)))

    async def update_role(self, request: pb.UpdateRoleRequest, _call: Call) -> pb.UpdateRoleResponse:
        tenant, actor = await self._admission.of(request, Area.ROLES, Right.UPDATE)
        changed = await self._roles.change(
            tenant, request.role_id, actor, changed=lambda role: replace(role, name=request.name)
        )
        return pb.UpdateRoleResponse(role=_message(changed))

    async def delete_role(self, request: pb.DeleteRoleRequest, _call: Call) -> pb.DeleteRoleResponse:
        tenant, actor = await self._admission.of(request, Area.ROLES, Right.DELETE)
        await self._roles.remove(tenant, request.role_id, actor)
        return pb.DeleteRoleResponse()


def _built_in() -> Iterable[pb.Role]:
    return (pb.Role(id=name, name=name) for name in sorted(ADMINISTRATOR_ROLES))


def _message(role: Role) -> pb.Role:
    return pb.Role(id=role.id, name=role.name)
