"""PasswordPolicyService."""

from dataclasses import fields
from typing import Any

from gnomon.identity.v1 import password_policy_service_pb2 as pb
from identity.access.callers import Actor
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations
from identity.access.rpc.records import fields_of
from identity.directory.tenants.password_policies import PasswordPolicies
from identity.directory.tenants.password_policy import PasswordPolicy
from identity.foundation.tenants import Tenant
from server.platform.errors import InvalidArgument


class PasswordPolicyServicer(Operations):
    def __init__(self, admission: Admission, policies: PasswordPolicies) -> None:
        self._policies = policies
        super().__init__(
            admission,
            {
                pb.GetPasswordPolicyRequest: policies.of,
                pb.UpdatePasswordPolicyRequest: self._update,
            },
            reads={PasswordPolicy: _policy},
            shows={PasswordPolicy: policy_message},
        )

    async def _update(self, tenant: Tenant, policy: PasswordPolicy, actor: Actor) -> PasswordPolicy:
        await self._policies.change(tenant, policy, actor=actor)
        return policy


def _policy(message: pb.PasswordPolicy) -> PasswordPolicy:
    try:
        return PasswordPolicy(**fields_of(message, PasswordPolicy))
    except ValueError as error:
        raise InvalidArgument(str(error)) from error


def policy_message(policy: PasswordPolicy) -> pb.PasswordPolicy:
    # A rule of 0 is disabled, and absent in the message.
    enabled: dict[str, Any] = {each.name: getattr(policy, each.name) or None for each in fields(policy)}
    return pb.PasswordPolicy(**enabled)
