"""GroupService."""

from gnomon.identity.v1 import group_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named
from identity.directory.labels import Group, Role
from identity.foundation.tenants import Tenant
from identity.people import names
from identity.people.labels import Labels
from identity.people.rpc.labels import Fields, LabelChanges


class GroupServicer(Operations):
    def __init__(self, admission: Admission, groups: Labels[Group], roles: Labels[Role]) -> None:
        self._roles = roles
        changes = LabelChanges(labels=groups, kind=Group, id_field="group_id", checked=self._checked)
        super().__init__(
            admission,
            {
                pb.ListGroupsRequest: groups.all,
                pb.CreateGroupRequest: changes.create,
                pb.UpdateGroupRequest: changes.update,
                pb.DeleteGroupRequest: named(groups.remove, label_id="group_id"),
            },
        )

    async def _checked(self, tenant: Tenant, fields: Fields) -> Fields:
        names.among(fields.get("roles", ()), await self._roles.names(tenant), what="roles")
        return fields
