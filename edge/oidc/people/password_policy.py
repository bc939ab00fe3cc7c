"""/password_policy: the tenant's policy for new passwords."""

from typing import Annotated

import msgspec
from aiohttp import web

from edge.oidc.access.administration_calls import AdministrationCalls, members, written
from edge.oidc.access.body import read_json
from edge.oidc.access.tenant import tenant_of
from edge.oidc.openapi.operation import Caller, content, described
from edge.oidc.openapi.schemas import part
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import password_policy_service_pb2 as pb

_Characters = Annotated[int, msgspec.Meta(ge=0, le=16)]


class _Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Absent rules are disabled."""

    length_min: Annotated[int, msgspec.Meta(ge=8, le=128)]
    length_max: Annotated[int, msgspec.Meta(ge=64, le=256)]
    include_lower_case: _Characters | None = None
    include_upper_case: _Characters | None = None
    include_digits: _Characters | None = None
    include_special: _Characters | None = None
    valid_days: Annotated[int, msgspec.Meta(ge=0, le=3650)] | None = None
    not_recently_used: Annotated[int, msgspec.Meta(ge=0, le=10)] | None = None

    def message(self) -> pb.PasswordPolicy:
        return pb.PasswordPolicy(**msgspec.structs.asdict(self))


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
        refusals=(409,),
    )
    async def update(self, request: web.Request) -> web.Response:
        caller = self._calls.caller(request)
        sent = await read_json(request, _Policy, max_bytes=self._calls.max_bytes)
        asked = pb.UpdatePasswordPolicyRequest(
            tenant_id=tenant_of(request), caller=caller, policy=sent.message()
        )
        updated = await self._policies.UpdatePasswordPolicy(asked, timeout=self._calls.timeout)
        return written(members(updated.policy))
