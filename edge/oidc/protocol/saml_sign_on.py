"""The provider as a SAML identity provider: metadata, single sign-on and logout, SAML 2.0 Profiles §4.1, §4.4.

Browsers send no session cookie with a form that another site posts. The response to such a request is a page of ours
that posts it again.
"""

from aiohttp import web

from edge.oidc.access.browsers import Browsers
from edge.oidc.access.form import form_of, read_parameters, single
from edge.oidc.access.tenant import issuer_path, tenant_of
from edge.oidc.authentication.authorization import AuthorizationEndpoint
from edge.oidc.authentication.federation import SAML_LOGOUT
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, described, may, page, plain, redirect
from edge.oidc.pages import Pages
from edge.oidc.protocol.logout import LogoutEndpoint
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import authorization_service_pb2 as pb
from gnomon.identity.v1 import logout_service_pb2, saml_sign_on_service_pb2

METADATA = "application/samlmetadata+xml"

# A request has at most 49,152 characters of base64; a form writes some of them as three.
_MAX_FORM_BYTES = 65_536
_OF_A_REQUEST = ("SAMLRequest", "RelayState")
_POSTED_AGAIN = "posted_again"

SAML_REQUEST = (
    may("SAMLRequest", "The request."),
    may("RelayState", "Value that the response repeats."),
)


class SamlSignOnEndpoint:
    def __init__(
        self,
        stubs: Stubs,
        config: OidcConfig,
        authorization: AuthorizationEndpoint,
        *,
        logout: LogoutEndpoint,
        browsers: Browsers,
        pages: Pages,
    ) -> None:
        self._sign_ons = stubs.saml_sign_ons
        self._config = config
        self._authorization = authorization
        self._logout = logout
        self._browsers = browsers
        self._pages = pages

    @described(
        "The metadata of the tenant as a SAML identity provider.",
        plain("The metadata.", media_type=METADATA),
        caller=Caller.ANYBODY,
    )
    async def metadata(self, request: web.Request) -> web.Response:
        asked = saml_sign_on_service_pb2.GetSamlIdentityProviderRequest(tenant_id=tenant_of(request))
        found = await self._sign_ons.GetSamlIdentityProvider(asked, timeout=self._config.call_timeout_seconds)
        return web.Response(body=found.metadata.encode(), content_type=METADATA)

    @described(
        "Begins a sign-in to a SAML application: SAML 2.0 Bindings §3.4.",
        page("The sign-in, or a form that the browser posts to the application."),
        caller=Caller.ANYBODY,
        query=(
            *SAML_REQUEST,
            may("SigAlg", "The algorithm of the signature."),
            may("Signature", "The signature."),
        ),
    )
    async def get(self, request: web.Request) -> web.Response:
        # The signature covers the query as the application wrote it.
        asked = pb.BeginAuthorizationRequest(saml=pb.SamlMessage(query=request.rel_url.raw_query_string))
        begun = self._authorization.begin(request, asked, status=302)
        return await self._pages.instead_of_refusals(request, begun)

    @described(
        "Begins a sign-in to a SAML application by a form: SAML 2.0 Bindings §3.5.",
        page("The sign-in, or a form that the browser posts to the application."),
        caller=Caller.ANYBODY,
        form=SAML_REQUEST,
    )
    async def post(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(request, self._post(request))

    @described(
        "Ends the session of the browser at the request of a SAML application, or takes its response.",
        page("The frames that sign the user out at clients, or that the session has ended."),
        redirect("The application, with the response."),
        caller=Caller.ANYBODY,
        query=SAML_LOGOUT,
    )
    async def logout(self, request: web.Request) -> web.Response:
        if "SAMLResponse" in request.query:
            # It answers a frame of ours, which needs nothing more.
            return self._pages.signed_out(logout_service_pb2.SignedOutPage(), issuer_path(request))
        # The signature covers the query as the application wrote it.
        asked = logout_service_pb2.BeginLogoutRequest(saml_query=request.rel_url.raw_query_string or "?")
        begun = self._logout.begin(request, asked, status=302)
        return await self._pages.instead_of_refusals(request, begun)

    async def _post(self, request: web.Request) -> web.Response:
        form = form_of(await read_parameters(request, _MAX_FORM_BYTES))
        if _POSTED_AGAIN not in form and not self._browsers.of(request).session:
            sent = [(name, single(form, name)) for name in _OF_A_REQUEST if name in form]
            action = f"{issuer_path(request)}/saml/sso"
            return self._pages.posted_again(action, [*sent, (_POSTED_AGAIN, "yes")], form_origin="")
        message = pb.SamlForm(
            saml_request=single(form, "SAMLRequest"), relay_state=single(form, "RelayState")
        )
        asked = pb.BeginAuthorizationRequest(saml=pb.SamlMessage(form=message))
        return await self._authorization.begin(request, asked, status=303)
