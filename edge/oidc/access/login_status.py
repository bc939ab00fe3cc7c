"""The login status of a browser: the FedCM cookie, and Set-Login (Login Status API §2.2).

The cookie is sent with requests of other sites, so it differs from the session cookie and opens only FedCM. The header
applies to a whole origin, so only the tenant of the host sets it, and tenants below a path prefix do not.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from aiohttp import web

from edge.oidc.access.cookies import FED_CM, Cookies
from edge.oidc.access.refusal import Refused, refused
from edge.oidc.access.tenant import names_tenant
from edge.oidc.config import CookieMode
from gnomon.identity.v1 import browser_pb2 as pb
from server.platform.errors import ServiceError, Unauthenticated

_HEADER = "Set-Login"
_SIGNED_IN = MappingProxyType({_HEADER: "logged-in"})
_SIGNED_OUT = MappingProxyType({_HEADER: "logged-out"})


class LoginStatus:
    """Sets nothing where FedCM is disabled."""

    def __init__(self, mode: CookieMode, *, is_told: bool) -> None:
        self._cookies = Cookies(FED_CM, mode, same_site="None")
        self._is_told = is_told

    def signed_in(self, request: web.Request) -> Mapping[str, str]:
        """Return the header that sets the status to signed in."""
        return _SIGNED_IN if self._tells(request) else {}

    def signed_out(self, request: web.Request) -> Mapping[str, str]:
        return _SIGNED_OUT if self._tells(request) else {}

    def way(self, request: web.Request) -> str:
        """Return the FedCM cookie, empty for one that the provider cannot have set."""
        return self._cookies.value(request)

    def refusal(self, request: web.Request, error: ServiceError) -> Refused:
        """Map an error of the service; without a signed-in user, the response sets the status to signed out."""
        refusal = refused(error)
        if not isinstance(error, Unauthenticated) or "cause" in error.metadata:
            return refusal
        return replace(refusal, headers={**refusal.headers, **self.signed_out(request)})

    def tell(self, request: web.Request, response: web.Response, *, cookie: pb.SessionCookie) -> None:
        """Set cookie and status along with the session cookie; a session without a user changes neither."""
        if not self._is_told or (cookie.max_age and not cookie.fed_cm):
            return
        self._cookies.keep(
            request, response, cookie=pb.SessionCookie(value=cookie.fed_cm, max_age=cookie.max_age)
        )
        told = self.signed_in(request) if cookie.max_age else self.signed_out(request)
        response.headers.update(told)

    def _tells(self, request: web.Request) -> bool:
        return self._is_told and not names_tenant(request)
