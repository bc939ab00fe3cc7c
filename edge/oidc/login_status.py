"""What a browser knows of who is signed in: FedCM's own cookie, and Set-Login (Login Status API §2.2).

The cookie goes along with requests that pages of other sites cause, so it is none of the session: it leads to it, for FedCM
alone. The header is about the whole origin, so that the tenant of the host tells, and those below the prefix do not.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from aiohttp import web

from edge.oidc.config import CookieMode
from edge.oidc.cookies import FED_CM, Cookies
from edge.oidc.refusal import Refused, refused
from edge.oidc.tenant import names_tenant
from gnomon.identity.v1 import browser_pb2 as pb
from server.platform.errors import ServiceError, Unauthenticated

_HEADER = "Set-Login"
_SIGNED_IN = MappingProxyType({_HEADER: "logged-in"})
_SIGNED_OUT = MappingProxyType({_HEADER: "logged-out"})


class LoginStatus:
    """Tells nothing where FedCM is off."""

    def __init__(self, mode: CookieMode, *, is_told: bool) -> None:
        self._cookies = Cookies(FED_CM, mode, same_site="None")
        self._is_told = is_told

    def signed_in(self, request: web.Request) -> Mapping[str, str]:
        """Return the header for a browser that somebody is signed in at."""
        return _SIGNED_IN if self._tells(request) else {}

    def signed_out(self, request: web.Request) -> Mapping[str, str]:
        return _SIGNED_OUT if self._tells(request) else {}

    def way(self, request: web.Request) -> str:
        """Return what the browser sent, empty when it is nothing that was ever set."""
        return self._cookies.value(request)

    def refusal(self, request: web.Request, error: ServiceError) -> Refused:
        """Say what is answered when a service refused: also that nobody is signed in, unless somebody else is."""
        refusal = refused(error)
        if not isinstance(error, Unauthenticated) or "cause" in error.metadata:
            return refusal
        return replace(refusal, headers={**refusal.headers, **self.signed_out(request)})

    def tell(self, request: web.Request, response: web.Response, *, cookie: pb.SessionCookie) -> None:
        """Go with the session's cookie: one that nobody has signed in with changes nothing."""
        if not self._is_told or (cookie.max_age and not cookie.fed_cm):
            return
        self._cookies.keep(
            request, response, cookie=pb.SessionCookie(value=cookie.fed_cm, max_age=cookie.max_age)
        )
        told = self.signed_in(request) if cookie.max_age else self.signed_out(request)
        response.headers.update(told)

    def _tells(self, request: web.Request) -> bool:
        return self._is_told and not names_tenant(request)
