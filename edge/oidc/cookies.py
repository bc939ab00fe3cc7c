"""The session cookie: RFC 6265bis §4.1.3.

Tenants share a host, so each has a cookie of its own name; the prefix binds it to the host or to TLS.
"""

from aiohttp import web

from edge.oidc.config import CookieMode
from edge.oidc.tenant import tenant_of
from gnomon.identity.v1 import browser_pb2 as pb

_NAME = "GnomonSession"
_PREFIXES = {CookieMode.HOST: "__Host-", CookieMode.SECURE: "__Secure-", CookieMode.DANGER_INSECURE: ""}
_MAX_LENGTH = 256


class SessionCookies:
    def __init__(self, mode: CookieMode) -> None:
        self._prefix = _PREFIXES[mode]
        # A cookie with the __Host- prefix has to be that of the whole host.
        self._path = "/" if mode is CookieMode.HOST else "/auth"
        self._is_secure = mode is not CookieMode.DANGER_INSECURE

    def value(self, request: web.Request) -> str:
        """Return what the browser sent, empty when it is nothing that was ever set."""
        value = request.cookies.get(self._name(request), "")
        return value if value.isascii() and len(value) <= _MAX_LENGTH else ""

    def keep(self, request: web.Request, response: web.Response, *, cookie: pb.SessionCookie) -> None:
        """Set the cookie; one that is to live for no time is taken back."""
        response.set_cookie(
            self._name(request),
            cookie.value if cookie.max_age else "",
            max_age=cookie.max_age,
            path=self._path,
            secure=self._is_secure,
            httponly=True,
            samesite="Lax",
        )

    def _name(self, request: web.Request) -> str:
        tenant = tenant_of(request)
        return f"{self._prefix}{_NAME}.{tenant}" if tenant else f"{self._prefix}{_NAME}"
