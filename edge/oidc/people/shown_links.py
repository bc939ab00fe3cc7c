"""A request with a link from a mail: its code, the browser's cookie and the CSRF token."""

from aiohttp import web

from edge.oidc.access.browsers import Browsers
from gnomon.identity.v1.password_reset_service_pb2 import ShownLink

LINK_CSRF_HEADER = "x-pwd-csrf-token"

_MAX_CSRF_TOKEN = 256


def shown_link(
    request: web.Request, browsers: Browsers, *, user_id: str, code: str, csrf_token: str = ""
) -> ShownLink:
    """Return the message; the CSRF token is that of the form, else that of the header."""
    csrf_token = csrf_token or request.headers.get(LINK_CSRF_HEADER, "")
    is_plausible = csrf_token.isascii() and len(csrf_token) <= _MAX_CSRF_TOKEN
    return ShownLink(
        user_id=user_id,
        code=code,
        cookie=browsers.link_cookie(request),
        csrf_token=csrf_token if is_plausible else "",
    )
