"""Cookies of a tenant: RFC 6265bis §4.1.3.

Tenants share a host, so each tenant has its own cookie names; the prefix binds a cookie to the host or to TLS.
"""

from typing import Literal, Protocol

from aiohttp import web

from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import CookieMode

SESSION = "GnomonSession"
REMEMBERED_FACTOR = "GnomonMfa"
DEVICE = "GnomonDevice"
# The name that other programs expect which follow such links.
OPENED_LINK = "rauthy-pwd-reset"
FED_CM = "GnomonFedCM"
ACTING = "GnomonActing"
BROWSER_STATE = "GnomonBrowserState"

PREFIXES = {CookieMode.HOST: "__Host-", CookieMode.SECURE: "__Secure-", CookieMode.DANGER_INSECURE: ""}
_MAX_LENGTH = 256


class CookieContent(Protocol):
    """`max_age` is in seconds."""

    @property
    def value(self) -> str: ...

    @property
    def max_age(self) -> int: ...


class Cookies:
    """`path` is where browsers send the cookies; scripts of the provider's own pages can read one that `is_readable`."""

    def __init__(
        self,
        name: str,
        mode: CookieMode,
        *,
        same_site: Literal["Lax", "None"] = "Lax",
        path: Literal["/", "/auth"] = "/auth",
        is_readable: bool = False,
    ) -> None:
        self._own_name = name
        self._prefix = PREFIXES[mode]
        # A cookie with the __Host- prefix must have the path `/`.
        self._path = "/" if mode is CookieMode.HOST else path
        # RFC 6265bis §5.7: browsers refuse SameSite=None cookies that are not Secure, and accept Secure ones on
        # loopback.
        self._is_secure = mode is not CookieMode.DANGER_INSECURE or same_site == "None"
        self._same_site = same_site
        self._is_readable = is_readable

    def value(self, request: web.Request) -> str:
        """Return the cookie's value, empty for one that the provider cannot have set."""
        return self.value_of(request, tenant_of(request))

    def value_of(self, request: web.Request, tenant: str) -> str:
        """Return the cookie's value for a tenant, in the same way; the default tenant has an empty name."""
        value = request.cookies.get(self._name(tenant), "")
        return value if value.isascii() and len(value) <= _MAX_LENGTH else ""

    def name(self, request: web.Request) -> str:
        """Return the name of the cookie of the request's tenant."""
        return self._name(tenant_of(request))

    def keep(self, request: web.Request, response: web.Response, *, cookie: CookieContent) -> None:
        """Set the cookie, or delete it when `max_age` is 0."""
        self.keep_of(tenant_of(request), response, cookie=cookie)

    def keep_of(self, tenant: str, response: web.Response, *, cookie: CookieContent) -> None:
        """Set or delete the cookie of a tenant, in the same way; the default tenant has an empty name."""
        response.set_cookie(
            self._name(tenant),
            cookie.value if cookie.max_age else "",
            max_age=cookie.max_age,
            path=self._path,
            secure=self._is_secure,
            httponly=not self._is_readable,
            samesite=self._same_site,
        )

    def _name(self, tenant: str) -> str:
        name = f"{self._prefix}{self._own_name}"
        return f"{name}.{tenant}" if tenant else name
