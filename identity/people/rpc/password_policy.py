"""PasswordPolicyService."""

from dataclasses import fields
from typing import Any

from gnomon.identity.v1 import password_policy_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.records import fields_of
from identity.directory.tenants.password_policies import PasswordPolicies
from identity.directory.tenants.password_policy import PasswordPolicy
from identity.foundation.tenants import Tenants
from server.platform.call import Call
from server.platform.errors import InvalidArgument


class PasswordPolicyServicer:
    def __init__(self, tenants: Tenants, admission: Admission, policies: PasswordPolicies) -> None:
        self._tenants = tenants
        self._admission = admission
        self._policies = policies

    async def get_password_policy(
        self, request: pb.GetPasswordPolicyRequest, _call: Call
    ) -> pb.GetPasswordPolicyResponse:
        policy = await self._policies.of(self._tenants.find(request.tenant_id))
        return pb.GetPasswordPolicyResponse(policy=policy_message(policy))

    async def update_password_policy(
        self, request: pb.UpdatePasswordPolicyRequest, _call: Call
    ) -> pb.UpdatePasswordPolicyResponse:
        tenant, actor = await self._admission.of(request)
        policy = _policy(request.policy)
        await self._policies.change(tenant, policy, actor=actor)
        return pb.UpdatePasswordPolicyResponse(policy=policy_message(policy))


def _policy(message: pb.PasswordPolicy) -> PasswordPolicy:
    try:
        return PasswordPolicy(**fields_of(message, PasswordPolicy))
    except ValueError as error:
        raise InvalidArgument(str(error)) from error


def policy_message(policy: PasswordPolicy) -> pb.PasswordPolicy:
    # A rule of 0 is disabled, and absent in the message.
    enabled: dict[str, Any] = {each.name: getattr(policy, each.name) or None for each in fields(policy)}
    return pb.PasswordPolicy(**enabled)
