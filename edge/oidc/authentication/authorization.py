"""GET and POST /oidc/authorize: RFC 6749 §3.1, OpenID Connect Core 1.0 §3.1.2.1.

A POST in JSON, or a form with a CSRF token, submits credentials; every other form is an authorization request.
"""

from aiohttp import hdrs, web

from edge.oidc.access.body import JSON
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.form import Parameters, form_of, query_parameters, read_parameters
from edge.oidc.access.originating_request import OriginatingRequest
from edge.oidc.access.tenant import issuer_path, tenant_of
from edge.oidc.authentication.credentials import CredentialsEndpoint
from edge.oidc.authentication.redirects import sent_back
from edge.oidc.authentication.sign_in_fields import Credentials
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, content, described, done, may, page, redirect
from edge.oidc.openapi.parameters import AUTHORIZATION
from edge.oidc.openapi.schemas import INTEGER, STRING, STRINGS, an_object
from edge.oidc.pages import Pages
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import authorization_service_pb2 as pb
from gnomon.identity.v1.browser_pb2 import Parameter


class AuthorizationEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers, pages: Pages) -> None:
        self._authorizations = stubs.authorizations
        self._config = config
        self._browsers = browsers
        self._pages = pages
        self._credentials = CredentialsEndpoint(stubs, config, browsers=browsers, pages=pages)

    @described(
        "Begins a sign-in: the authorization endpoint, OpenID Connect Core 1.0 §3.1.2.",
        page("The sign-in, or a form that the browser posts to the client."),
        redirect("The redirect URI with the response, or the registration."),
        caller=Caller.ANYBODY,
        query=AUTHORIZATION,
    )
    async def get(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(request, self._get(request))

    @described(
        "Begins a sign-in by a form, or takes the credentials of the sign-in page.",
        page("The next page of the sign-in, or a form that the browser posts to the client."),
        content(an_object(code=STRING, user_id=STRING, exp=INTEGER, methods=STRINGS)),
        redirect("The redirect URI with the response, for a form.", status=303),
        done(202, "The redirect URI with the response is in `Location`, for JSON."),
        caller=Caller.ANYBODY,
        body=Credentials,
        form=(
            *AUTHORIZATION,
            may("csrf_token", "Of the sign-in page, whose credentials the form has."),
            may("authorization_id", "The authorization request of the page."),
            may("email", "The e-mail address."),
            may("password", "The password."),
            may("pow", "The solution of a challenge."),
        ),
        refusals=(401, 409),
    )
    async def post(self, request: web.Request) -> web.Response:
        if request.content_type == JSON:
            return await self._credentials.post_json(request)
        return await self._pages.instead_of_refusals(request, self._post_form(request))

    async def _get(self, request: web.Request) -> web.Response:
        return await self.begin(request, _asked(query_parameters(request)), status=302)

    async def _post_form(self, request: web.Request) -> web.Response:
        parameters = await read_parameters(request, self._config.max_form_bytes)
        if any(name == "csrf_token" for name, _ in parameters):
            return await self._credentials.submit_form(request, form_of(parameters))
        return await self.begin(request, _asked(parameters), status=303)

    async def begin(
        self, request: web.Request, asked: pb.BeginAuthorizationRequest, *, status: int
    ) -> web.Response:
        """Begin a sign-in of the browser in the tenant that the address names."""
        asked.tenant_id = tenant_of(request)
        asked.browser.CopyFrom(self._browsers.of(request))
        begun = await self._authorizations.BeginAuthorization(
            asked, timeout=self._config.call_timeout_seconds
        )
        response = self._next(request, begun, status=status)
        if begun.HasField("cookie"):
            self._browsers.keep(request, response, cookie=begun.cookie)
        return response

    def _next(
        self, request: web.Request, begun: pb.BeginAuthorizationResponse, *, status: int
    ) -> web.Response:
        path = issuer_path(request)
        match begun.WhichOneof("next"):
            case "page" if begun.page.is_registration_first:
                location = OriginatingRequest.of_page(begun.page).registration_address(path)
                return web.Response(status=status, headers={hdrs.LOCATION: location})
            case "page":
                page = self._pages.go_on if begun.page.is_signed_in else self._pages.sign_in
                return page(begun.page, path)
            case "redirect":
                return sent_back(begun.redirect, self._pages, status=status)
            case _:
                return self._pages.error(request, begun.error)


def _asked(parameters: Parameters) -> pb.BeginAuthorizationRequest:
    return pb.BeginAuthorizationRequest(
        parameters=(Parameter(name=name, value=value) for name, value in parameters)
    )
