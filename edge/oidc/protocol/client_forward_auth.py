"""GET /clients/{id}/forward_auth and its callback: a proxy asks whether a browser is signed in.

The proxy passes on the browser's cookies, and describes the original request in X-Forwarded headers. Only trusted
proxies are accepted.
"""

from aiohttp import hdrs, web

from edge.oidc.access.administration_calls import segment
from edge.oidc.access.form import form_of, query_parameters, single
from edge.oidc.access.peers import Peers
from edge.oidc.access.refusal import Refused, invalid_request
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, described, done, may, needs, redirect
from edge.oidc.openapi.schemas import choice
from edge.oidc.pages import Pages
from edge.oidc.protocol.forward_auth import caller_headers
from edge.oidc.protocol.forward_cookies import ForwardCookie, ForwardCookies
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import forward_auth_service_pb2 as pb
from gnomon.identity.v1.browser_pb2 import Parameter

CSRF_HEADER = "X-Forward-Auth-Csrf-Token"

_PROTO, _HOST = hdrs.X_FORWARDED_PROTO, hdrs.X_FORWARDED_HOST
_URI, _METHOD = "X-Forwarded-Uri", "X-Forwarded-Method"
_HTTPS = "https"
_STATUSES = {"": 401, "302": 302, "303": 303, "401": 401, "403": 403}
_FLAGS = {"": False, "false": False, "true": True}


class ClientForwardAuthEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, peers: Peers, pages: Pages) -> None:
        self._forward_auth = stubs.forward_auth
        self._timeout = config.call_timeout_seconds
        self._peers = peers
        self._pages = pages

    @described(
        "For a reverse proxy: whether the browser has signed in at the client, with headers about the user.",
        done(text="The headers `x-forwarded-user`, and so on, are about the user."),
        redirect("The sign-in."),
        redirect("The sign-in.", status=303),
        caller=Caller.ANYBODY,
        query=(
            may(
                "redirect_state", "The status for a browser that has not.", choice("302", "303", "401", "403")
            ),
            may("danger_cookie_insecure", "Whether plain HTTP is permitted.", choice("true", "false")),
        ),
        headers=(
            needs("X-Forwarded-Proto", "The scheme of the request."),
            needs("X-Forwarded-Host", "Its host."),
            needs("X-Forwarded-Uri", "Its path and query."),
            needs("X-Forwarded-Method", "Its method."),
        ),
        refusals=(401,),
    )
    async def admit(self, request: web.Request) -> web.Response:
        """Answer 200 with headers about the user, or the requested status with the address of the sign-in."""
        if not self._peers.is_trusted(request):
            raise Refused(403, "Forbidden", "expected a trusted proxy")
        status, allows_insecure = _wanted(request)
        forwarded, client_id = _forwarded(request), segment(request, "id")
        cookies = ForwardCookies(client_id, is_secure=forwarded.scheme == _HTTPS)
        asked = pb.AdmitForwardedRequest(
            tenant_id=tenant_of(request),
            client_id=client_id,
            forwarded=forwarded,
            session=cookies.value(request, ForwardCookie.SESSION),
            csrf_cookie=cookies.value(request, ForwardCookie.CSRF),
            csrf_header=_sole(request, CSRF_HEADER),
            browser=cookies.value(request, ForwardCookie.BROWSER),
            allows_insecure=allows_insecure,
        )
        admitted = await self._forward_auth.AdmitForwarded(asked, timeout=self._timeout)
        if admitted.WhichOneof("next") == "caller":
            return web.Response(headers=caller_headers(admitted.caller))
        return _to_sign_in(admitted.sign_in, cookies, status=status)

    @described(
        "Takes the response to a sign-in behind a proxy.",
        redirect("The address that the browser wanted."),
        caller=Caller.ANYBODY,
        query=(
            may("state", "The state of the request."),
            may("code", "The authorization code."),
            may("error", "Error of the sign-in."),
        ),
    )
    async def callback(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(request, self._callback(request))

    async def _callback(self, request: web.Request) -> web.Response:
        client_id, parameters = segment(request, "id"), query_parameters(request)
        is_insecure = self._peers.is_trusted(request) and _sole(request, _PROTO) == "http"
        cookies = ForwardCookies(client_id, is_secure=not is_insecure)
        asked = pb.FinishForwardSignInRequest(
            tenant_id=tenant_of(request),
            client_id=client_id,
            parameters=(Parameter(name=name, value=value) for name, value in parameters),
            browser=cookies.value(request, ForwardCookie.BROWSER),
            is_secure=not is_insecure,
        )
        finished = await self._forward_auth.FinishForwardSignIn(asked, timeout=self._timeout)
        response = web.Response(status=302, headers={hdrs.LOCATION: finished.return_to})
        cookies.keep(response, ForwardCookie.SESSION, finished.session, max_age=finished.max_age)
        cookies.keep(response, ForwardCookie.CSRF, finished.csrf_token, max_age=finished.max_age)
        return response


def _wanted(request: web.Request) -> tuple[int, bool]:
    """Return the status for a browser without a sign-in, and whether plain HTTP is allowed; raises Refused."""
    query = form_of(query_parameters(request))
    status = _STATUSES.get(single(query, "redirect_state"))
    allows_insecure = _FLAGS.get(single(query, "danger_cookie_insecure"))
    if status is None or allows_insecure is None:
        raise invalid_request(
            "expected redirect_state 302, 303, 401 or 403, danger_cookie_insecure true or false"
        )
    return status, allows_insecure


def _forwarded(request: web.Request) -> pb.ForwardedRequest:
    return pb.ForwardedRequest(
        scheme=_sole(request, _PROTO),
        host=_sole(request, _HOST),
        uri=_sole(request, _URI),
        method=_sole(request, _METHOD),
    )


def _sole(request: web.Request, name: str) -> str:
    """Return a header's value, empty without one; raises Refused for a repeated or non-ASCII one."""
    values = request.headers.getall(name, ())
    if len(values) > 1 or not all(value.isascii() for value in values):
        raise invalid_request(f"expected {name} once, in ASCII")
    return values[0] if values else ""


def _to_sign_in(sign_in: pb.ForwardSignIn, cookies: ForwardCookies, *, status: int) -> web.Response:
    # RFC 9110 §11.6.1: a 401 needs a challenge.
    challenge = {hdrs.WWW_AUTHENTICATE: "OAuth"} if status == 401 else {}  # noqa: PLR2004  # the status's number
    response = web.Response(status=status, headers={hdrs.LOCATION: sign_in.location, **challenge})
    cookies.keep(response, ForwardCookie.BROWSER, sign_in.browser, max_age=sign_in.max_age)
    return response
