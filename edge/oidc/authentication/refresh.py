"""POST /oidc/authorize/refresh: continues the request of a signed-in user without credentials."""

from aiohttp import web

from edge.oidc.access.body import JSON, read_json
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.form import read_form, single
from edge.oidc.access.tenant import tenant_of
from edge.oidc.authentication.sign_in_fields import SignInFields
from edge.oidc.authentication.steps import navigated, scripted
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, described, done, may, page, redirect
from edge.oidc.pages import Pages
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import authorization_service_pb2 as pb


class RefreshEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers, pages: Pages) -> None:
        self._authorizations = stubs.authorizations
        self._config = config
        self._browsers = browsers
        self._pages = pages

    @described(
        "Signs in at a client with the session that the browser has.",
        page("The next page of the sign-in."),
        redirect("The redirect URI with the response, for a form.", status=303),
        done(202, "The redirect URI with the response is in `Location`, for JSON."),
        caller=Caller.BROWSER,
        body=SignInFields,
        form=(
            may("csrf_token", "Of the page."),
            may("authorization_id", "The authorization request of the page."),
        ),
    )
    async def post(self, request: web.Request) -> web.Response:
        if request.content_type == JSON:
            return await self._post_json(request)
        return await self._pages.instead_of_refusals(request, self._post_form(request))

    async def _post_json(self, request: web.Request) -> web.Response:
        sent = await read_json(request, SignInFields, max_bytes=self._config.max_form_bytes)
        refreshed = await self._refresh(
            pb.RefreshAuthorizationRequest(
                tenant_id=tenant_of(request),
                browser=self._browsers.of(request),
                authorization_id=sent.authorization_id,
                parameters=sent.parameters(),
            )
        )
        return scripted(request, refreshed)

    async def _post_form(self, request: web.Request) -> web.Response:
        form = await read_form(request, self._config.max_form_bytes)
        refreshed = await self._refresh(
            pb.RefreshAuthorizationRequest(
                tenant_id=tenant_of(request),
                browser=self._browsers.of(request, single(form, "csrf_token")),
                authorization_id=single(form, "authorization_id"),
            )
        )
        return navigated(request, refreshed, self._pages)

    async def _refresh(self, asked: pb.RefreshAuthorizationRequest) -> pb.RefreshAuthorizationResponse:
        return await self._authorizations.RefreshAuthorization(
            asked, timeout=self._config.call_timeout_seconds
        )
