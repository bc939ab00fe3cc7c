"""GroupService."""

from gnomon.identity.v1 import group_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named
from identity.directory.labels import Group, Role
from identity.foundation.tenants import Tenant
from identity.people import names
from identity.people.labels import Labels
from identity.people.rpc.labels import OF_SEARCHES, Fields, LabelChanges


class GroupServicer(Operations):
    def __init__(self, admission: Admission, groups: Labels[Group], roles: Labels[Role]) -> None:
        self._roles = roles
        changes = LabelChanges(labels=groups, kind=Group, id_field="group_id", checked=self._checked)
        super().__init__(
            admission,
            {
                pb.ListGroupsRequest: groups.page,
                pb.GetGroupRequest: named(groups.get, label_id="group_id"),
                pb.CreateGroupRequest: changes.create,
                pb.UpdateGroupRequest: changes.update,
                pb.DeleteGroupRequest: named(groups.remove, label_id="group_id"),
            },
            names=OF_SEARCHES,
        )

    async def _checked(self, tenant: Tenant, fields: Fields) -> Fields:
        roles = fields.get("roles", ())
        names.among(roles, await self._roles.known(tenant, roles), what="roles")
        return fields
