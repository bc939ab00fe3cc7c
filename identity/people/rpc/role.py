"""RoleService."""

from collections.abc import Sequence

from gnomon.identity.v1 import role_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named
from identity.directory.holdings import ADMINISTRATOR_PERMISSIONS, ADMINISTRATOR_ROLES
from identity.directory.labels import Role
from identity.foundation.tenants import Tenant
from identity.people.labels import Labels
from identity.people.rpc.labels import LabelChanges


class RoleServicer(Operations):
    def __init__(self, admission: Admission, roles: Labels[Role]) -> None:
        self._roles = roles
        changes = LabelChanges(labels=roles, kind=Role, id_field="role_id")
        super().__init__(
            admission,
            {
                pb.ListRolesRequest: self._all,
                pb.CreateRoleRequest: changes.create,
                pb.UpdateRoleRequest: changes.update,
                pb.DeleteRoleRequest: named(roles.remove, label_id="role_id"),
            },
        )

    async def _all(self, tenant: Tenant) -> Sequence[pb.Role | Role]:
        built_in = (
            pb.Role(id=name, name=name, permissions=ADMINISTRATOR_PERMISSIONS)
            for name in sorted(ADMINISTRATOR_ROLES)
        )
        return *built_in, *await self._roles.all(tenant)
