"""MembershipService."""

from google.protobuf.message import Message

from gnomon.identity.v1 import membership_service_pb2 as pb
from identity.access.callers import Actor
from identity.access.rpc.process_api_caller import ProcessApiCallers
from identity.foundation.tenants import Tenant
from identity.people.memberships import MemberKind, Membership, Memberships
from server.platform.call import Call

_PARTIES = {
    "role_id": MemberKind.ROLE,
    "group_id": MemberKind.GROUP,
    "tenant_id": MemberKind.TENANT,
    "mapping_rule_id": MemberKind.MAPPING_RULE,
    "client_id": MemberKind.CLIENT,
    "username": MemberKind.USER,
}


class MembershipServicer:
    def __init__(self, api_callers: ProcessApiCallers, memberships: Memberships) -> None:
        self._api_callers = api_callers
        self._memberships = memberships

    async def assign_role_to_group(
        self, request: pb.AssignRoleToGroupRequest, call: Call
    ) -> pb.AssignRoleToGroupResponse:
        await self._assign(request, call)
        return pb.AssignRoleToGroupResponse()

    async def unassign_role_from_group(
        self, request: pb.UnassignRoleFromGroupRequest, call: Call
    ) -> pb.UnassignRoleFromGroupResponse:
        await self._unassign(request, call)
        return pb.UnassignRoleFromGroupResponse()

    async def assign_role_to_mapping_rule(
        self, request: pb.AssignRoleToMappingRuleRequest, call: Call
    ) -> pb.AssignRoleToMappingRuleResponse:
        await self._assign(request, call)
        return pb.AssignRoleToMappingRuleResponse()

    async def unassign_role_from_mapping_rule(
        self, request: pb.UnassignRoleFromMappingRuleRequest, call: Call
    ) -> pb.UnassignRoleFromMappingRuleResponse:
        await self._unassign(request, call)
        return pb.UnassignRoleFromMappingRuleResponse()

    async def assign_role_to_client(
        self, request: pb.AssignRoleToClientRequest, call: Call
    ) -> pb.AssignRoleToClientResponse:
        await self._assign(request, call)
        return pb.AssignRoleToClientResponse()

    async def unassign_role_from_client(
        self, request: pb.UnassignRoleFromClientRequest, call: Call
    ) -> pb.UnassignRoleFromClientResponse:
        await self._unassign(request, call)
        return pb.UnassignRoleFromClientResponse()

    async def assign_mapping_rule_to_group(
        self, request: pb.AssignMappingRuleToGroupRequest, call: Call
    ) -> pb.AssignMappingRuleToGroupResponse:
        await self._assign(request, call)
        return pb.AssignMappingRuleToGroupResponse()

    async def unassign_mapping_rule_from_group(
        self, request: pb.UnassignMappingRuleFromGroupRequest, call: Call
    ) -> pb.UnassignMappingRuleFromGroupResponse:
        await self._unassign(request, call)
        return pb.UnassignMappingRuleFromGroupResponse()

    async def assign_client_to_group(
        self, request: pb.AssignClientToGroupRequest, call: Call
    ) -> pb.AssignClientToGroupResponse:
        await self._assign(request, call)
        return pb.AssignClientToGroupResponse()

    async def unassign_client_from_group(
        self, request: pb.UnassignClientFromGroupRequest, call: Call
    ) -> pb.UnassignClientFromGroupResponse:
        await self._unassign(request, call)
        return pb.UnassignClientFromGroupResponse()

    async def assign_mapping_rule_to_tenant(
        self, request: pb.AssignMappingRuleToTenantRequest, call: Call
    ) -> pb.AssignMappingRuleToTenantResponse:
        await self._assign(request, call)
        return pb.AssignMappingRuleToTenantResponse()

    async def unassign_mapping_rule_from_tenant(
        self, request: pb.UnassignMappingRuleFromTenantRequest, call: Call
    ) -> pb.UnassignMappingRuleFromTenantResponse:
        await self._unassign(request, call)
        return pb.UnassignMappingRuleFromTenantResponse()

    async def assign_group_to_tenant(
        self, request: pb.AssignGroupToTenantRequest, call: Call
    ) -> pb.AssignGroupToTenantResponse:
        await self._assign(request, call)
        return pb.AssignGroupToTenantResponse()

    async def unassign_group_from_tenant(
        self, request: pb.UnassignGroupFromTenantRequest, call: Call
    ) -> pb.UnassignGroupFromTenantResponse:
        await self._unassign(request, call)
        return pb.UnassignGroupFromTenantResponse()

    async def assign_role_to_tenant(
        self, request: pb.AssignRoleToTenantRequest, call: Call
    ) -> pb.AssignRoleToTenantResponse:
        await self._assign(request, call)
        return pb.AssignRoleToTenantResponse()

    async def unassign_role_from_tenant(
        self, request: pb.UnassignRoleFromTenantRequest, call: Call
    ) -> pb.UnassignRoleFromTenantResponse:
        await self._unassign(request, call)
        return pb.UnassignRoleFromTenantResponse()

    async def assign_user_to_group(
        self, request: pb.AssignUserToGroupRequest, call: Call
    ) -> pb.AssignUserToGroupResponse:
        await self._assign(request, call)
        return pb.AssignUserToGroupResponse()

    async def unassign_user_from_group(
        self, request: pb.UnassignUserFromGroupRequest, call: Call
    ) -> pb.UnassignUserFromGroupResponse:
        await self._unassign(request, call)
        return pb.UnassignUserFromGroupResponse()

    async def assign_role_to_user(
        self, request: pb.AssignRoleToUserRequest, call: Call
    ) -> pb.AssignRoleToUserResponse:
        await self._assign(request, call)
        return pb.AssignRoleToUserResponse()

    async def unassign_role_from_user(
        self, request: pb.UnassignRoleFromUserRequest, call: Call
    ) -> pb.UnassignRoleFromUserResponse:
        await self._unassign(request, call)
        return pb.UnassignRoleFromUserResponse()

    async def assign_user_to_tenant(
        self, request: pb.AssignUserToTenantRequest, call: Call
    ) -> pb.AssignUserToTenantResponse:
        await self._assign(request, call)
        return pb.AssignUserToTenantResponse()

    async def unassign_user_from_tenant(
        self, request: pb.UnassignUserFromTenantRequest, call: Call
    ) -> pb.UnassignUserFromTenantResponse:
        await self._unassign(request, call)
        return pb.UnassignUserFromTenantResponse()

    async def assign_client_to_tenant(
        self, request: pb.AssignClientToTenantRequest, call: Call
    ) -> pb.AssignClientToTenantResponse:
        await self._assign(request, call)
        return pb.AssignClientToTenantResponse()

    async def unassign_client_from_tenant(
        self, request: pb.UnassignClientFromTenantRequest, call: Call
    ) -> pb.UnassignClientFromTenantResponse:
        await self._unassign(request, call)
        return pb.UnassignClientFromTenantResponse()

    async def _assign(self, request: Message, call: Call) -> None:
        tenant, actor, membership = await self._asked(request, call)
        await self._memberships.assign(tenant, membership, actor, self._api_callers.note(call))

    async def _unassign(self, request: Message, call: Call) -> None:
        tenant, actor, membership = await self._asked(request, call)
        await self._memberships.unassign(tenant, membership, actor, self._api_callers.note(call))

    async def _asked(self, request: Message, call: Call) -> tuple[Tenant, Actor, Membership]:
        tenant, actor, membership = (
            self._api_callers.tenant(call),
            await self._api_callers.actor(call),
            _membership(request),
        )
        if membership.of is MemberKind.TENANT:
            self._api_callers.expect_may_name(call, actor, membership.name)
        return tenant, actor, membership


def _membership(request: Message) -> Membership:
    """Return the membership; the first field of each request names the label, the second one the member."""
    of, member = request.DESCRIPTOR.fields
    return Membership(
        member=_PARTIES[member.name],
        member_id=getattr(request, member.name),
        of=_PARTIES[of.name],
        name=getattr(request, of.name),
    )
