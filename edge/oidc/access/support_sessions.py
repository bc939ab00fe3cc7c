"""Sessions in which a support person acts as a user, as the pages of the browser show them.

A cookie beside the session cookie has the user's address and the CSRF token for the button that stops the session. It
grants nothing: the services know the session, and a browser without the cookie only lacks the banner.
"""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial

from aiohttp import web

from edge.oidc.access.cookies import ACTING, Cookies
from edge.oidc.access.tenant import issuer_path, tenant_of
from edge.oidc.config import CookieMode
from edge.oidc.prefix import PREFIX
from gnomon.identity.v1 import browser_pb2 as pb

STOP = "/oidc/impersonation/stop"

# A longer address is cut, because browsers bound cookies.
_MAX_BYTES = 120


@dataclass(frozen=True, slots=True)
class Acting:
    """The user as whom a support person acts, and the form that stops it."""

    name: str
    csrf_token: str
    action: str


_Reading = Callable[[], Acting | None]
_current: ContextVar[_Reading | None] = ContextVar("reads the session of a support person", default=None)


def kept_acting() -> Acting | None:
    """Return what the browser of the current request shows, None without a session of support."""
    read = _current.get()
    return None if read is None else read()


class ActingCookies:
    def __init__(self, mode: CookieMode) -> None:
        # Pages of the console show the banner, too.
        self._cookies = Cookies(ACTING, mode, path="/")

    def of(self, request: web.Request) -> Acting | None:
        return self._of(self._cookies.value(request), issuer_path(request))

    def at_console(self, request: web.Request, tenant: str) -> Acting | None:
        """Return it for a page of the console about a tenant, which has an empty name for the default one."""
        path = f"{PREFIX}/{tenant}" if tenant else PREFIX
        return self._of(self._cookies.value_of(request, tenant), path)

    def _of(self, value: str, path: str) -> Acting | None:
        csrf_token, _, encoded = value.partition(".")
        if not csrf_token.isalnum() or not encoded:
            return None
        try:
            name = urlsafe_b64decode(encoded).decode()
        except (binascii.Error, UnicodeDecodeError):
            return None
        return Acting(name, csrf_token, f"{path}{STOP}") if name.isprintable() else None

    def remember(self, request: web.Request) -> None:
        """Let the pages that the current task renders read it; most requests render none."""
        _current.set(partial(self.of, request))

    def keep(self, request: web.Request, response: web.Response, *, cookie: pb.SessionCookie) -> None:
        """Set the cookie beside that of a session of support; any other session removes it."""
        if cookie.acting_as:
            self.keep_of(tenant_of(request), response, cookie=cookie)
        elif self._cookies.value(request):
            self._cookies.keep(request, response, cookie=pb.SessionCookie(max_age=0))

    def keep_of(self, tenant: str, response: web.Response, *, cookie: pb.SessionCookie) -> None:
        """Set the cookie beside that of a session of support in this tenant."""
        name = cookie.acting_as.encode()[:_MAX_BYTES].decode(errors="ignore").encode()
        value = f"{cookie.csrf_token}.{urlsafe_b64encode(name).decode()}"
        kept = pb.SessionCookie(value=value, max_age=cookie.max_age)
        self._cookies.keep_of(tenant, response, cookie=kept)
