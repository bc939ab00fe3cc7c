"""The browser of a request, as a message for the services."""

from aiohttp import hdrs, web

from edge.oidc.access.cookies import (
    BROWSER_STATE,
    DEVICE,
    OPENED_LINK,
    REMEMBERED_FACTOR,
    SESSION,
    CookieContent,
    Cookies,
)
from edge.oidc.access.login_status import LoginStatus
from edge.oidc.access.peers import Peers
from edge.oidc.access.support_sessions import ActingCookies
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import AccessConfig
from gnomon.identity.v1 import browser_pb2 as pb
from gnomon.identity.v1.passkey_service_pb2 import RememberedFactor

CSRF_HEADER = "x-csrf-token"

_MAX_USER_AGENT = 512
_MAX_CSRF_TOKEN = 256


class Browsers:
    def __init__(
        self,
        config: AccessConfig,
        *,
        has_tls: bool = True,
        has_fed_cm: bool = False,
        has_session_frame: bool = False,
    ) -> None:
        mode = config.cookie_mode_of(has_tls=has_tls)
        # The process API accepts sessions, too.
        self._sessions = Cookies(SESSION, mode, path="/")
        self._remembered_factors = Cookies(REMEMBERED_FACTOR, mode)
        self._devices = Cookies(DEVICE, mode)
        self._opened_links = Cookies(OPENED_LINK, mode)
        self._peers = Peers(config.trusted_proxies)
        # The frame reads it within pages of other sites.
        self.states = Cookies(BROWSER_STATE, mode, same_site="None", is_readable=True)
        self._has_session_frame = has_session_frame
        self.login_status = LoginStatus(mode, is_told=has_fed_cm)
        self.acting = ActingCookies(mode)

    def of(self, request: web.Request, csrf_token: str = "") -> pb.Browser:
        """Return the browser; the CSRF token is that of the form, else that of the header."""
        return pb.Browser(
            session=self._sessions.value(request),
            peer_address=self.peer_address(request),
            user_agent=_printable(request.headers.get(hdrs.USER_AGENT, ""))[:_MAX_USER_AGENT],
            csrf_token=_plausible(csrf_token) if csrf_token else self.csrf_token(request),
            remembered_factor=self._remembered_factors.value(request),
            device=self._devices.value(request),
        )

    def session(self, request: web.Request, tenant: str) -> str:
        """Return the session cookie of a tenant, empty without one."""
        return self._sessions.value_of(request, tenant)

    def csrf_token(self, request: web.Request) -> str:
        """Return the CSRF token of the header, empty without one."""
        return _plausible(request.headers.get(CSRF_HEADER, ""))

    def peer_address(self, request: web.Request) -> str:
        return self._peers.address(request)

    def keep(self, request: web.Request, response: web.Response, *, cookie: pb.SessionCookie) -> None:
        """Set or delete the session cookie; after a sign-in, also set the one that recognizes the browser."""
        self._sessions.keep(request, response, cookie=cookie)
        self.login_status.tell(request, response, cookie=cookie)
        self._tell_state(tenant_of(request), response, cookie=cookie)
        if cookie.device:
            device = pb.SessionCookie(value=cookie.device, max_age=cookie.device_max_age)
            self._devices.keep(request, response, cookie=device)
        self.acting.keep(request, response, cookie=cookie)

    def forget(self, request: web.Request, response: web.Response) -> None:
        """Delete the session cookie and the one that recognizes the browser."""
        gone = pb.SessionCookie(max_age=0)
        self.keep(request, response, cookie=gone)
        self._devices.keep(request, response, cookie=gone)

    def act(self, tenant: str, response: web.Response, *, cookie: pb.SessionCookie) -> None:
        """Set the session cookie of a tenant to that of a session of support."""
        self._sessions.keep_of(tenant, response, cookie=cookie)
        self._tell_state(tenant, response, cookie=cookie)
        self.acting.keep_of(tenant, response, cookie=cookie)

    def _tell_state(self, tenant: str, response: web.Response, *, cookie: pb.SessionCookie) -> None:
        """Set the browser state; a session without a user does not change it."""
        if self._has_session_frame and (cookie.browser_state or not cookie.max_age):
            state = pb.SessionCookie(value=cookie.browser_state, max_age=cookie.max_age)
            self.states.keep_of(tenant, response, cookie=state)

    def remember(self, request: web.Request, response: web.Response, *, factor: RememberedFactor) -> None:
        """Set the cookie of a remembered browser."""
        self._remembered_factors.keep(request, response, cookie=factor)

    def link_cookie(self, request: web.Request) -> str:
        """Return the cookie of an opened link, empty without one."""
        return self._opened_links.value(request)

    def hold_link(self, request: web.Request, response: web.Response, *, cookie: CookieContent) -> None:
        """Set or delete the cookie of an opened link."""
        self._opened_links.keep(request, response, cookie=cookie)


def _printable(text: str) -> str:
    """Replace lone surrogates, which stand for bytes that are not UTF-8."""
    return text.encode("utf-8", "replace").decode()


def _plausible(csrf_token: str) -> str:
    """Return the token, empty for one that we cannot have made."""
    return csrf_token if csrf_token.isascii() and len(csrf_token) <= _MAX_CSRF_TOKEN else ""
