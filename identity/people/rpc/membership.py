"""MembershipService."""

from google.protobuf.message import Message

from gnomon.identity.v1 import membership_service_pb2 as pb
from identity.access.callers import Actor
from identity.access.rpc.operations import Operations
from identity.access.rpc.process_api_caller import ProcessApiCallers
from identity.foundation.tenants import Tenant
from identity.people.memberships import MemberKind, Membership, Memberships
from server.platform.audit import AuditNote
from server.platform.call import Call

_PARTIES = {
    "role_id": MemberKind.ROLE,
    "group_id": MemberKind.GROUP,
    "tenant_id": MemberKind.TENANT,
    "mapping_rule_id": MemberKind.MAPPING_RULE,
    "client_id": MemberKind.CLIENT,
    "username": MemberKind.USER,
}
_ASSIGNMENTS: tuple[type[Message], ...] = (
    pb.AssignRoleToGroupRequest,
    pb.AssignRoleToMappingRuleRequest,
    pb.AssignRoleToClientRequest,
    pb.AssignMappingRuleToGroupRequest,
    pb.AssignClientToGroupRequest,
    pb.AssignMappingRuleToTenantRequest,
    pb.AssignGroupToTenantRequest,
    pb.AssignRoleToTenantRequest,
    pb.AssignUserToGroupRequest,
    pb.AssignRoleToUserRequest,
    pb.AssignUserToTenantRequest,
    pb.AssignClientToTenantRequest,
)
_REMOVALS: tuple[type[Message], ...] = (
    pb.UnassignRoleFromGroupRequest,
    pb.UnassignRoleFromMappingRuleRequest,
    pb.UnassignRoleFromClientRequest,
    pb.UnassignMappingRuleFromGroupRequest,
    pb.UnassignClientFromGroupRequest,
    pb.UnassignMappingRuleFromTenantRequest,
    pb.UnassignGroupFromTenantRequest,
    pb.UnassignRoleFromTenantRequest,
    pb.UnassignUserFromGroupRequest,
    pb.UnassignRoleFromUserRequest,
    pb.UnassignUserFromTenantRequest,
    pb.UnassignClientFromTenantRequest,
)


class MembershipServicer(Operations):
    def __init__(self, api_callers: ProcessApiCallers, memberships: Memberships) -> None:
        self._api_callers = api_callers
        self._memberships = memberships
        super().__init__(
            api_callers,
            {
                **dict.fromkeys(_ASSIGNMENTS, self._assign),
                **dict.fromkeys(_REMOVALS, self._unassign),
            },
        )

    async def _assign(
        self, tenant: Tenant, request: Message, actor: Actor, *, note: AuditNote, call: Call
    ) -> None:
        membership = self._membership(request, actor, call)
        await self._memberships.assign(tenant, membership, actor, note)

    async def _unassign(
        self, tenant: Tenant, request: Message, actor: Actor, *, note: AuditNote, call: Call
    ) -> None:
        membership = self._membership(request, actor, call)
        await self._memberships.unassign(tenant, membership, actor, note)

    def _membership(self, request: Message, actor: Actor, call: Call) -> Membership:
        """Return the membership; the first field of each request names the label, the second one the member.

        Raises TenantMismatch.
        """
        of, member = request.DESCRIPTOR.fields
        membership = Membership(
            member=_PARTIES[member.name],
            member_id=getattr(request, member.name),
            of=_PARTIES[of.name],
            name=getattr(request, of.name),
        )
        if membership.of is MemberKind.TENANT:
            self._api_callers.expect_may_name(call, actor, membership.name)
        return membership
