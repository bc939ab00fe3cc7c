"""PasswordPolicyService."""

from dataclasses import fields
from typing import Any

from gnomon.identity.v1 import password_policy_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations
from identity.directory.tenants.password_policies import PasswordPolicies
from identity.directory.tenants.password_policy import PasswordPolicy


class PasswordPolicyServicer(Operations):
    def __init__(self, admission: Admission, policies: PasswordPolicies) -> None:
        super().__init__(
            admission,
            {
                pb.GetPasswordPolicyRequest: policies.of,
                pb.UpdatePasswordPolicyRequest: policies.change,
            },
            shows={PasswordPolicy: policy_message},
        )


def policy_message(policy: PasswordPolicy) -> pb.PasswordPolicy:
    # A rule of 0 is disabled, and absent in the message.
    enabled: dict[str, Any] = {each.name: getattr(policy, each.name) or None for each in fields(policy)}
    return pb.PasswordPolicy(**enabled)
