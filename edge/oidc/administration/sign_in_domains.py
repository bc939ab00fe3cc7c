"""/auth/v1/tenants/{id}/domains: the sign-in domains of a tenant; schemas are in sign_in_domain_service.proto."""

import msgspec
from aiohttp import web

from edge.oidc.access.administration_calls import AdministrationCalls, named, written
from edge.oidc.access.body import bad_request, read_json
from edge.oidc.access.documents import Members
from edge.oidc.access.message_json import members
from edge.oidc.openapi.operation import content, described
from edge.oidc.openapi.schemas import BOOLEAN, array, message, part, with_any
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import sign_in_domain_service_pb2 as pb

_WITH_PASSWORD = frozenset({"choice", "password"})


class _Target(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    type: str = "password"
    providers: tuple[str, ...] = ()
    password: bool | None = None

    def message(self) -> pb.SignInTarget:
        """Raises Refused when the type says something else of the password."""
        if self.password not in {None, self.type in _WITH_PASSWORD}:
            raise bad_request("target: expected no password with provider, and one with choice and password")
        return pb.SignInTarget(type=self.type, providers=self.providers)


class _New(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    domain: str
    target: _Target = _Target()


class _Change(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    target: _Target


class _Verification(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    without_dns: bool = False


_TARGET = with_any(message(pb.SignInTarget), password=BOOLEAN)
_DOMAIN = with_any(part(pb.CreateSignInDomainResponse, "domain"), target=_TARGET)


class SignInDomainsEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls) -> None:
        self._domains = stubs.sign_in_domains
        self._calls = calls

    @described("Lists the sign-in domains of a tenant.", content(array(_DOMAIN)))
    async def list(self, request: web.Request) -> web.Response:
        asked = pb.ListSignInDomainsRequest(
            caller=self._calls.caller(request), tenant_id=named(request, "id")
        )
        found = await self._domains.ListSignInDomains(asked, timeout=self._calls.timeout)
        return written(list(map(_members, found.domains)))

    @described("Creates a sign-in domain.", content(_DOMAIN, status=201), body=_New, refusals=(409,))
    async def create(self, request: web.Request) -> web.Response:
        caller, tenant_id = self._calls.caller(request), named(request, "id")
        new = await read_json(request, _New, max_bytes=self._calls.max_bytes)
        asked = pb.CreateSignInDomainRequest(
            caller=caller, tenant_id=tenant_id, domain=new.domain, target=new.target.message()
        )
        created = await self._domains.CreateSignInDomain(asked, timeout=self._calls.timeout)
        return written(_members(created.domain), status=201)

    @described("Replaces the target of a sign-in domain.", content(_DOMAIN), body=_Change, refusals=(409,))
    async def update(self, request: web.Request) -> web.Response:
        caller, tenant_id = self._calls.caller(request), named(request, "id")
        change = await read_json(request, _Change, max_bytes=self._calls.max_bytes)
        asked = pb.UpdateSignInDomainRequest(
            caller=caller,
            tenant_id=tenant_id,
            domain=named(request, "domain"),
            target=change.target.message(),
        )
        changed = await self._domains.UpdateSignInDomain(asked, timeout=self._calls.timeout)
        return written(_members(changed.domain))

    @described(
        "Verifies a sign-in domain by its DNS record.",
        content(_DOMAIN),
        body=_Verification,
        has_optional_body=True,
        refusals=(409,),
    )
    async def verify(self, request: web.Request) -> web.Response:
        """Verify a domain; the body is optional."""
        caller, tenant_id = self._calls.caller(request), named(request, "id")
        sent = _Verification()
        if request.body_exists:
            sent = await read_json(request, _Verification, max_bytes=self._calls.max_bytes)
        asked = pb.VerifySignInDomainRequest(
            caller=caller,
            tenant_id=tenant_id,
            domain=named(request, "domain"),
            without_dns=sent.without_dns,
        )
        verified = await self._domains.VerifySignInDomain(asked, timeout=self._calls.long_timeout)
        return written(_members(verified.domain))


def _members(domain: pb.SignInDomain) -> Members:
    target = members(domain.target) | {"password": domain.target.type in _WITH_PASSWORD}
    return members(domain) | {"target": target}
