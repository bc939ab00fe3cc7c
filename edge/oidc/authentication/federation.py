"""POST /providers/login, the redirect URI of upstream providers, and our SAML metadata.

RFC 6749 §4.1.2; SAML 2.0 Bindings §3.5; OAuth 2.0 Form Post Response Mode. A provider that posts its response does so from
another site, so the browser sends no cookie with it. The browser returns by GET with its cookie: with the response in
the query, or, for a SAML provider, after it was kept.
"""

from urllib.parse import quote, urlencode

import msgspec
from aiohttp import hdrs, web

from edge.oidc.access.body import read_json
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.form import Form, form_of, query_parameters, read_parameters, single
from edge.oidc.access.refusal import Refused
from edge.oidc.access.tenant import issuer_path, tenant_of
from edge.oidc.authentication.redirects import accepted, sent_back
from edge.oidc.authentication.steps import navigated
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, described, done, may, page, plain, redirect
from edge.oidc.pages import Pages
from edge.oidc.pages.explanations import explanation_of_provider_link
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import federation_service_pb2 as pb
from gnomon.identity.v1 import logout_service_pb2
from gnomon.identity.v1.browser_pb2 import Parameter

_MAX_ID = 256
# A response has at most 393,216 characters of base64; a form writes some of them as three.
_MAX_FORM_BYTES = 524_288
_METADATA = "application/samlmetadata+xml"
# RFC 6749 §4.1.2, RFC 9207 §2.
_RESPONSE = ("state", "code", "iss", "error")
_MAX_QUERY = 4096


class _Departure(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    authorization_id: str
    provider_id: str
    pow: str
    email: str = ""


SAML_LOGOUT = (
    may("SAMLRequest", "The request."),
    may("SAMLResponse", "The response."),
    may("RelayState", "Value that the response repeats."),
    may("SigAlg", "The algorithm of the signature."),
    may("Signature", "The signature."),
)


class FederationEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers, pages: Pages) -> None:
        self._federations = stubs.federations
        self._config = config
        self._browsers = browsers
        self._pages = pages

    @described(
        "Leads to an upstream provider.",
        done(202, "The address is in `Location`."),
        caller=Caller.BROWSER,
        body=_Departure,
    )
    async def login(self, request: web.Request) -> web.Response:
        sent = await read_json(request, _Departure, max_bytes=self._config.max_form_bytes)
        asked = pb.LeaveForProviderRequest(
            tenant_id=tenant_of(request),
            browser=self._browsers.of(request),
            authorization_id=sent.authorization_id,
            provider_id=sent.provider_id,
            email=sent.email,
            pow=sent.pow,
        )
        left = await self._federations.LeaveForProvider(asked, timeout=self._config.call_timeout_seconds)
        return accepted(left.redirect)

    @described(
        "Takes the response of an upstream provider: OpenID Connect Core 1.0 §3.1.2.5.",
        page("The next page of the sign-in."),
        redirect("The redirect URI with the response."),
        caller=Caller.ANYBODY,
        query=(
            may("state", "The state of the request."),
            may("code", "The authorization code."),
            may("iss", "The issuer: RFC 9207."),
            may("error", "Error of the provider."),
        ),
    )
    async def callback(self, request: web.Request) -> web.Response:
        explain = explanation_of_provider_link(f"{issuer_path(request)}/account")
        return await self._pages.instead_of_refusals(request, self._return(request), explain)

    @described(
        "Takes the posted response of an upstream provider: SAML 2.0 Bindings §3.5, OAuth 2.0 Form Post Response Mode.",
        redirect("The address of the callback.", status=303),
        caller=Caller.ANYBODY,
        form=(
            may("SAMLResponse", "The response of a SAML identity provider."),
            may("RelayState", "The state of a request to it."),
            may("state", "The state of a request to an OpenID provider."),
            may("code", "The authorization code."),
            may("iss", "The issuer: RFC 9207."),
            may("error", "Error of the provider."),
        ),
    )
    async def receive(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(request, self._receive(request))

    @described(
        "The metadata of the tenant as a SAML service provider.",
        plain("The metadata.", media_type=_METADATA),
        caller=Caller.ANYBODY,
    )
    async def metadata(self, request: web.Request) -> web.Response:
        asked = pb.GetSamlMetadataRequest(tenant_id=tenant_of(request), provider_id=_provider_id(request))
        found = await self._federations.GetSamlMetadata(asked, timeout=self._config.call_timeout_seconds)
        return web.Response(body=found.document.encode(), content_type=_METADATA)

    @described(
        "Takes a logout request or response of a SAML identity provider: SAML 2.0 Profiles §4.4.",
        redirect("The provider, with the response."),
        page("The session has ended: the provider responded to a request of ours."),
        caller=Caller.ANYBODY,
        query=SAML_LOGOUT,
    )
    async def logout(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(request, self._logout(request))

    async def _logout(self, request: web.Request) -> web.Response:
        asked = pb.ReceiveSamlLogoutRequest(tenant_id=tenant_of(request), provider_id=_provider_id(request))
        form = form_of(await read_parameters(request, _MAX_FORM_BYTES)) if request.method == "POST" else {}
        if "SAMLResponse" in request.query or "SAMLResponse" in form:
            # It answers a frame of ours, which needs nothing more.
            return self._pages.signed_out(logout_service_pb2.SignedOutPage(), issuer_path(request))
        if request.method == "POST":
            asked.form.saml_request = single(form, "SAMLRequest")
            asked.form.relay_state = single(form, "RelayState")
        else:
            # The signature covers the query as the provider wrote it.
            asked.query = request.rel_url.raw_query_string
        received = await self._federations.ReceiveSamlLogout(asked, timeout=self._config.call_timeout_seconds)
        return sent_back(received.redirect, self._pages, status=303)

    async def _receive(self, request: web.Request) -> web.Response:
        form = form_of(await read_parameters(request, _MAX_FORM_BYTES))
        if "SAMLResponse" not in form:
            return _forwarded(request, form)
        state = single(form, "RelayState")
        asked = pb.ReceiveSamlResponseRequest(
            tenant_id=tenant_of(request),
            provider_id=_provider_id(request),
            relay_state=state,
            saml_response=single(form, "SAMLResponse"),
        )
        await self._federations.ReceiveSamlResponse(asked, timeout=self._config.call_timeout_seconds)
        own = f"{issuer_path(request)}/providers/{quote(asked.provider_id, safe='')}/callback"
        return web.Response(status=303, headers={hdrs.LOCATION: f"{own}?{urlencode({'state': state})}"})

    async def _return(self, request: web.Request) -> web.Response:
        provider_id = _provider_id(request)
        asked = pb.ReturnFromProviderRequest(
            tenant_id=tenant_of(request),
            browser=self._browsers.of(request),
            provider_id=provider_id,
            parameters=(Parameter(name=name, value=value) for name, value in query_parameters(request)),
        )
        # The call makes up to three requests to the upstream provider.
        returned = await self._federations.ReturnFromProvider(
            asked, timeout=self._config.long_call_timeout_seconds
        )
        if returned.HasField("second_factor"):
            path, csrf_token = issuer_path(request), returned.csrf_token
            return self._pages.second_factor(returned.second_factor, path, csrf_token=csrf_token)
        response = navigated(request, returned, self._pages, status=302)
        if returned.HasField("cookie"):
            self._browsers.keep(request, response, cookie=returned.cookie)
        return response


def _forwarded(request: web.Request, form: Form) -> web.Response:
    """Repeat a posted response as a query: browsers send our cookies with no form of another site."""
    members = {name: single(form, name) for name in _RESPONSE if name in form}
    own = f"{issuer_path(request)}/providers/{quote(_provider_id(request), safe='')}/callback"
    query = urlencode(members)
    if len(query) > _MAX_QUERY:
        raise Refused(400, "BadRequest", "the response of the provider is too long")
    return web.Response(status=303, headers={hdrs.LOCATION: f"{own}?{query}"})


def _provider_id(request: web.Request) -> str:
    provider_id = request.match_info["id"]
    if not provider_id.isascii() or len(provider_id) > _MAX_ID:
        raise Refused(404, "NotFound", "there is no such provider")
    return provider_id
