"""PasswordPolicyService."""

from gnomon.identity.v1 import password_policy_service_pb2 as pb
from identity.access.rpc.admission import Admission
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
        return PasswordPolicy(
            length_min=message.length_min,
            length_max=message.length_max,
            include_lower_case=message.include_lower_case,
            include_upper_case=message.include_upper_case,
            include_digits=message.include_digits,
            include_special=message.include_special,
            valid_days=message.valid_days,
            not_recently_used=message.not_recently_used,
        )
    except ValueError as error:
        raise InvalidArgument(str(error)) from error


def policy_message(policy: PasswordPolicy) -> pb.PasswordPolicy:
    return pb.PasswordPolicy(
        length_min=policy.length_min,
        length_max=policy.length_max,
        include_lower_case=policy.include_lower_case or None,
        include_upper_case=policy.include_upper_case or None,
        include_digits=policy.include_digits or None,
        include_special=policy.include_special or None,
        valid_days=policy.valid_days or None,
        not_recently_used=policy.not_recently_used or None,
    )
