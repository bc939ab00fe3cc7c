"""RoleService."""

from collections.abc import Iterable
from dataclasses import replace

from gnomon.identity.v1 import role_service_pb2 as pb
from gnomon.identity.v1 import user_pb2
from identity.access.rpc.admission import Admission
from identity.directory.holdings import ADMINISTRATOR_PERMISSIONS, ADMINISTRATOR_ROLES
from identity.directory.labels import Role
from identity.foundation.vocabulary import Permission
from identity.people import names
from identity.people.labels import Labels
from server.platform.call import Call


class RoleServicer:
    def __init__(self, admission: Admission, roles: Labels[Role]) -> None:
        self._admission = admission
        self._roles = roles

    async def list_roles(self, request: pb.ListRolesRequest, _call: Call) -> pb.ListRolesResponse:
        tenant, _ = await self._admission.of(request)
        return pb.ListRolesResponse(roles=(*_built_in(), *map(_message, await self._roles.all(tenant))))

    async def create_role(self, request: pb.CreateRoleRequest, _call: Call) -> pb.CreateRoleResponse:
        tenant, actor = await self._admission.of(request)
        permissions = _permissions(request.permissions)
        role = Role(tenant_id=tenant.tenant_id, id="", name=request.name, permissions=permissions)
        return pb.CreateRoleResponse(role=_message(await self._roles.add(tenant, role, actor)))

    async def update_role(self, request: pb.UpdateRoleRequest, _call: Call) -> pb.UpdateRoleResponse:
        tenant, actor = await self._admission.of(request)
        permissions = _permissions(request.permissions)

        def changed(role: Role) -> Role:
            given = permissions if request.HasField("permissions") else role.permissions
            return replace(role, name=request.name, permissions=given)

        role = await self._roles.change(tenant, request.role_id, actor, changed=changed)
        return pb.UpdateRoleResponse(role=_message(role))

    async def delete_role(self, request: pb.DeleteRoleRequest, _call: Call) -> pb.DeleteRoleResponse:
        tenant, actor = await self._admission.of(request)
        await self._roles.remove(tenant, request.role_id, actor)
        return pb.DeleteRoleResponse()


def _built_in() -> Iterable[pb.Role]:
    return (
        pb.Role(id=name, name=name, permissions=ADMINISTRATOR_PERMISSIONS)
        for name in sorted(ADMINISTRATOR_ROLES)
    )


def _permissions(given: user_pb2.Names) -> tuple[Permission, ...]:
    """Raises InvalidArgument."""
    return tuple(map(Permission, names.among(given.names, tuple(Permission), what="permissions")))


def _message(role: Role) -> pb.Role:
    return pb.Role(id=role.id, name=role.name, permissions=role.permissions)
