"""RoleService."""

from collections.abc import Sequence
from dataclasses import replace

from gnomon.identity.v1 import role_service_pb2 as pb
from identity.access.callers import Actor
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named
from identity.directory.holdings import ADMINISTRATOR_PERMISSIONS, ADMINISTRATOR_ROLES
from identity.directory.labels import Role
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import Permission
from identity.people import names
from identity.people.labels import Labels

Names = tuple[str, ...]


class RoleServicer(Operations):
    def __init__(self, admission: Admission, roles: Labels[Role]) -> None:
        self._roles = roles
        super().__init__(
            admission,
            {
                pb.ListRolesRequest: self._all,
                pb.CreateRoleRequest: self._create,
                pb.UpdateRoleRequest: self._update,
                pb.DeleteRoleRequest: named(roles.remove, label_id="role_id"),
            },
        )

    async def _all(self, tenant: Tenant) -> Sequence[pb.Role | Role]:
        built_in = (
            pb.Role(id=name, name=name, permissions=ADMINISTRATOR_PERMISSIONS)
            for name in sorted(ADMINISTRATOR_ROLES)
        )
        return *built_in, *await self._roles.all(tenant)

    async def _create(self, tenant: Tenant, name: str, permissions: Names, actor: Actor) -> Role:
        role = Role(tenant_id=tenant.tenant_id, id="", name=name, permissions=_known(permissions))
        return await self._roles.add(tenant, role, actor)

    async def _update(
        self, tenant: Tenant, role_id: str, name: str, permissions: Names | None, actor: Actor
    ) -> Role:
        known = _known(permissions or ())

        def changed(role: Role) -> Role:
            return replace(role, name=name, permissions=role.permissions if permissions is None else known)

        return await self._roles.change(tenant, role_id, actor, changed=changed)


def _known(given: Names) -> tuple[Permission, ...]:
    """Raises InvalidArgument."""
    return tuple(map(Permission, names.among(given, tuple(Permission), what="permissions")))
