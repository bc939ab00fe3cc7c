"""/password_policy: the tenant's policy for new passwords."""

import msgspec
from aiohttp import web

from edge.oidc.access.administration_calls import AdministrationCalls, members, written
from edge.oidc.access.body import bad_request, read_json
from edge.oidc.access.tenant import tenant_of
from edge.oidc.openapi.operation import Caller, content, described
from edge.oidc.openapi.schemas import part
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import password_policy_service_pb2 as pb

_MAX_INT32 = 2**31 - 1


class _Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Absent rules are disabled."""

    length_min: int
    length_max: int
    include_lower_case: int | None = None
    include_upper_case: int | None = None
    include_digits: int | None = None
    include_special: int | None = None
    valid_days: int | None = None
    not_recently_used: int | None = None

    def message(self) -> pb.PasswordPolicy:
        """Raises Refused for what no message can hold."""
        numbers = msgspec.structs.asdict(self)
        if not all(number is None or 0 <= number <= _MAX_INT32 for number in numbers.values()):
            raise bad_request("expected numbers of characters, days and passwords")
        return pb.PasswordPolicy(**numbers)


class PasswordPolicyEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls) -> None:
        self._policies = stubs.password_policies
        self._calls = calls

    @described(
        "The rules for passwords.",
        content(part(pb.GetPasswordPolicyResponse, "policy")),
        caller=Caller.ANYBODY,
    )
    async def get(self, request: web.Request) -> web.Response:
        asked = pb.GetPasswordPolicyRequest(tenant_id=tenant_of(request))
        found = await self._policies.GetPasswordPolicy(asked, timeout=self._calls.timeout)
        return written(members(found.policy))

    @described(
        "Replaces the rules for passwords.",
        content(part(pb.UpdatePasswordPolicyResponse, "policy")),
        body=_Policy,
    )
    async def update(self, request: web.Request) -> web.Response:
        caller = self._calls.caller(request)
        sent = await read_json(request, _Policy, max_bytes=self._calls.max_bytes)
        asked = pb.UpdatePasswordPolicyRequest(
            tenant_id=tenant_of(request), caller=caller, policy=sent.message()
        )
        updated = await self._policies.UpdatePasswordPolicy(asked, timeout=self._calls.timeout)
        return written(members(updated.policy))
