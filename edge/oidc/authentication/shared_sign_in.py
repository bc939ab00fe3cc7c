"""GET and POST /sign-in: one page for all tenants, which sends an address to the tenant that owns its domain.

After the sign-in, the browser returns here, to the page of that tenant.
"""

import msgspec
import orjson
from aiohttp import hdrs, web

from edge.oidc.access.body import JSON, read_json
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.form import form_of, query_parameters, read_form, single
from edge.oidc.access.own_authorization import own_authorization
from edge.oidc.access.tenant import issuer_path, tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, content, described, needs, page, redirect
from edge.oidc.openapi.schemas import STRING, an_object
from edge.oidc.pages import Pages
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import sign_in_service_pb2 as pb
from gnomon.identity.v1.session_service_pb2 import GetSessionRequest


class _Address(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    email: str
    pow: str


class SharedSignInEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers, pages: Pages) -> None:
        self._stubs = stubs
        self._config = config
        self._timeout = config.call_timeout_seconds
        self._browsers = browsers
        self._pages = pages

    @described(
        "Asks for an e-mail address and finds the tenant that it belongs to.",
        page("The question."),
        redirect("The sign-in of the tenant."),
        caller=Caller.ANYBODY,
    )
    async def get(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(request, self._get(request))

    @described(
        "Finds the tenant of an e-mail address.",
        content(an_object(location=STRING)),
        redirect("The sign-in of the tenant, for a form.", status=303),
        page("The question once more."),
        caller=Caller.ANYBODY,
        body=_Address,
        form=(needs("email", "The e-mail address."), needs("pow", "The solution of a challenge.")),
    )
    async def post(self, request: web.Request) -> web.Response:
        if request.content_type == JSON:
            return await self._post_json(request)
        return await self._pages.instead_of_refusals(request, self._post_form(request))

    async def _get(self, request: web.Request) -> web.Response:
        # RFC 9207: only an authorization response has `iss`.
        if "iss" not in form_of(query_parameters(request)):
            return self._pages.shared_sign_in(issuer_path(request))
        asked = GetSessionRequest(tenant_id=tenant_of(request), browser=self._browsers.of(request))
        found = await self._stubs.sessions.GetSession(asked, timeout=self._timeout)
        response = self._pages.signed_in(issuer_path(request))
        # A session from an earlier sign-in may lack the FedCM cookie.
        self._browsers.login_status.tell(request, response, cookie=found.cookie)
        return response

    async def _post_json(self, request: web.Request) -> web.Response:
        sent = await read_json(request, _Address, max_bytes=self._config.max_form_bytes)
        location = await self._location(request, sent.email, sent.pow)
        return web.Response(body=orjson.dumps({"location": location}), content_type=JSON)

    async def _post_form(self, request: web.Request) -> web.Response:
        form = await read_form(request, self._config.max_form_bytes)
        location = await self._location(request, single(form, "email"), single(form, "pow"))
        return web.Response(status=303, headers={hdrs.LOCATION: location})

    async def _location(self, request: web.Request, email: str, proof_of_work: str) -> str:
        asked = pb.FindSignInRequest(tenant_id=tenant_of(request), email=email, pow=proof_of_work)
        issuer = (await self._stubs.sign_ins.FindSignIn(asked, timeout=self._timeout)).issuer
        query = own_authorization(issuer, page="sign-in", login_hint=email)
        return f"{issuer}oidc/authorize?{query}"
