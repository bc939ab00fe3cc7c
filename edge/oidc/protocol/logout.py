"""GET and POST /oidc/logout: OpenID Connect RP-Initiated Logout 1.0.

A POST with an `id_token_hint` is a logout request, and one with a CSRF token is the confirmation of the provider's
page. A POST with a `logout_token` comes from an upstream provider: Back-Channel Logout 1.0 §2.5.

Browsers send no session cookie with a form that another site posts. The response to such a request is a page of the
provider that posts it again, so that the hint is compared with the browser's session. An ID token alone ends no
session, because tokens occur in addresses and logs, where strangers may find them.
"""

import grpc
from aiohttp import web

from edge.oidc.access.browsers import CSRF_HEADER, Browsers
from edge.oidc.access.form import Form, Parameters, form_of, query_parameters, read_parameters, single
from edge.oidc.access.tenant import issuer_path, tenant_of
from edge.oidc.authentication.redirects import location, sent_back
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, described, done, may, page, redirect
from edge.oidc.pages import Pages
from edge.oidc.pages.security_policy import origin_of
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import logout_service_pb2 as pb
from gnomon.identity.v1.browser_pb2 import Parameter
from server.platform.channels import error_of
from server.platform.errors import Unauthenticated

_OF_THE_PAGE = frozenset({"csrf_token", "logout_id", "decision", "posted_again"})
# RP-Initiated Logout 1.0 §2.
_OF_A_REQUEST = frozenset(
    {"id_token_hint", "logout_hint", "client_id", "post_logout_redirect_uri", "state", "ui_locales"}
)
# Sec-Fetch-Site of other sites; some browsers do not send it.
_OTHER_SITES = frozenset({"cross-site", ""})
_STAY = "stay"

_Ended = pb.BeginLogoutResponse | pb.ConfirmLogoutResponse


# RP-Initiated Logout 1.0 §2.
LOGOUT = (
    may("id_token_hint", "An ID token of the session that ends."),
    may("logout_hint", "The account."),
    may("client_id", "The client."),
    may("post_logout_redirect_uri", "Address to continue at."),
    may("state", "Value that the redirect repeats."),
    may("ui_locales", "Languages of the user."),
)


class LogoutEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers, pages: Pages) -> None:
        self._logouts = stubs.logouts
        self._config = config
        self._browsers = browsers
        self._pages = pages

    @described(
        "Ends the session of the browser: OpenID Connect RP-Initiated Logout 1.0.",
        page("A question, the frames that sign the user out at clients, or that the session has ended."),
        redirect("The post-logout redirect URI."),
        caller=Caller.ANYBODY,
        query=LOGOUT,
    )
    async def get(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(request, self._get(request))

    @described(
        "As with GET, by a form; or takes the logout token of an upstream provider.",
        page("A question, the frames that sign the user out at clients, or that the session has ended."),
        redirect("The post-logout redirect URI.", status=303),
        done(200, "The logout token was taken; there is no body."),
        caller=Caller.ANYBODY,
        form=(
            *LOGOUT,
            may("logout_token", "From an upstream provider: OpenID Connect Back-Channel Logout 1.0."),
            may("logout_id", "Of the question that the user answers."),
            may("decision", "The answer: `stay` keeps the session."),
            may("csrf_token", "Of the page."),
        ),
    )
    async def post(self, request: web.Request) -> web.Response:
        parameters = await read_parameters(request, self._config.max_form_bytes)
        form = form_of(parameters)
        if (
            "logout_token" in form
            and not single(form, "id_token_hint")
            and not _is_confirmation(request, form)
        ):
            # The request comes from an upstream provider and not from a browser.
            return await self._receive(request, form)
        return await self._pages.instead_of_refusals(request, self._post_form(request, parameters, form=form))

    async def _get(self, request: web.Request) -> web.Response:
        return await self._begin(request, query_parameters(request), status=302)

    async def _post_form(self, request: web.Request, parameters: Parameters, *, form: Form) -> web.Response:
        if single(form, "decision") == _STAY:
            return self._pages.signed_in(issuer_path(request))
        if _is_confirmation(request, form) and not single(form, "id_token_hint"):
            return await self._confirm_or_ask_again(request, parameters, form=form)
        if self._may_lack_its_cookie(request, form):
            return self._posted_again(request, parameters, form=form)
        return await self._begin(request, parameters, status=303)

    def _may_lack_its_cookie(self, request: web.Request, form: Form) -> bool:
        is_from_elsewhere = request.headers.get("Sec-Fetch-Site", "") in _OTHER_SITES
        is_of_ours = _is_confirmation(request, form) or bool(single(form, "posted_again"))
        return is_from_elsewhere and not is_of_ours and not self._browsers.of(request).session

    def _posted_again(self, request: web.Request, parameters: Parameters, *, form: Form) -> web.Response:
        asked = [(name, value) for name, value in parameters if name in _OF_A_REQUEST]
        return self._pages.posted_again(
            f"{issuer_path(request)}/oidc/logout",
            [*asked, ("posted_again", "yes")],
            form_origin=_origin_of(single(form, "post_logout_redirect_uri")),
        )

    async def _confirm_or_ask_again(
        self, request: web.Request, parameters: Parameters, *, form: Form
    ) -> web.Response:
        """Confirm the logout; ask again if the page belongs to an ended session or has a wrong CSRF token."""
        try:
            return await self._confirm(request, form)
        except grpc.RpcError as failure:
            if "csrf_token" not in form or not isinstance(error_of(failure), Unauthenticated):
                raise
        asked = [(name, value) for name, value in parameters if name not in _OF_THE_PAGE]
        return await self._begin(request, asked, status=303)

    async def _receive(self, request: web.Request, form: Form) -> web.Response:
        told = pb.ReceiveLogoutTokenRequest(
            tenant_id=tenant_of(request), logout_token=single(form, "logout_token")
        )
        await self._logouts.ReceiveLogoutToken(told, timeout=self._config.call_timeout_seconds)
        return web.Response()

    async def _begin(self, request: web.Request, parameters: Parameters, *, status: int) -> web.Response:
        asked = pb.BeginLogoutRequest(parameters=_sent(parameters))
        return await self.begin(request, asked, status=status)

    async def begin(self, request: web.Request, asked: pb.BeginLogoutRequest, *, status: int) -> web.Response:
        """Begin a logout of the browser in the tenant that the address names."""
        asked.tenant_id = tenant_of(request)
        asked.browser.CopyFrom(self._browsers.of(request))
        begun = await self._logouts.BeginLogout(asked, timeout=self._config.call_timeout_seconds)
        response = self._next(request, begun, status=status)
        if begun.HasField("cookie"):
            self._browsers.keep(request, response, cookie=begun.cookie)
        return response

    def _next(self, request: web.Request, begun: pb.BeginLogoutResponse, *, status: int) -> web.Response:
        path = issuer_path(request)
        if begun.HasField("front_channel"):
            return self._by_the_browser(begun, path)
        match begun.WhichOneof("next"):
            case "page":
                return self._pages.log_out(begun.page, path)
            case "redirect":
                return sent_back(begun.redirect, self._pages, status=status)
            case "signed_out":
                return self._pages.signed_out(begun.signed_out, path)
            case _:
                return self._pages.error(request, begun.error)

    def _by_the_browser(self, ended: _Ended, path: str) -> web.Response:
        """The page that signs the user out at clients before the browser goes on."""
        way_on = location(ended.redirect) if ended.WhichOneof("next") == "redirect" else ""
        return self._pages.front_channel_logout(ended.front_channel, path, way_on=way_on)

    async def _confirm(self, request: web.Request, form: Form) -> web.Response:
        logout_id = single(form, "logout_id")
        parameters = [(name, single(form, name)) for name in form if name not in _OF_THE_PAGE]
        confirmed = await self._logouts.ConfirmLogout(
            pb.ConfirmLogoutRequest(
                tenant_id=tenant_of(request),
                browser=self._browsers.of(request, single(form, "csrf_token")),
                logout_id=logout_id,
                parameters=() if logout_id else _sent(parameters),
            ),
            timeout=self._config.call_timeout_seconds,
        )
        # A script cannot load frames; it follows the redirect.
        if confirmed.HasField("front_channel") and CSRF_HEADER not in request.headers:
            response = self._by_the_browser(confirmed, issuer_path(request))
        elif confirmed.WhichOneof("next") == "redirect":
            response = sent_back(confirmed.redirect, self._pages, status=303)
        else:
            response = self._pages.signed_out(confirmed.signed_out, issuer_path(request))
        if confirmed.HasField("cookie"):
            self._browsers.keep(request, response, cookie=confirmed.cookie)
        return response


def _is_confirmation(request: web.Request, form: Form) -> bool:
    return "csrf_token" in form or CSRF_HEADER in request.headers


def _origin_of(uri: str) -> str:
    """Return the origin of an unverified address, empty for a malformed one."""
    try:
        return origin_of(uri) if uri else ""
    except ValueError:
        return ""


def _sent(parameters: Parameters) -> tuple[Parameter, ...]:
    return tuple(Parameter(name=name, value=value) for name, value in parameters)
