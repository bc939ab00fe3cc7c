"""Cookies of services behind a proxy, on the hosts of the services; each client has its own."""

from enum import StrEnum

from aiohttp import web

_MAX_LENGTH = 256


class ForwardCookie(StrEnum):
    """The session, its CSRF token, which pages can read, and the browser of a pending sign-in."""

    SESSION = "GnomonForward"
    CSRF = "GnomonForwardCsrf"
    BROWSER = "GnomonForwardBrowser"


class ForwardCookies:
    """`is_secure` when the service has TLS; otherwise the names have no prefix, which browsers would refuse."""

    def __init__(self, client_id: str, *, is_secure: bool) -> None:
        self._client_id = client_id
        self._is_secure = is_secure

    def value(self, request: web.Request, cookie: ForwardCookie) -> str:
        """Return the cookie's value, empty for one that the provider cannot have set."""
        value = request.cookies.get(self._name(cookie), "")
        return value if value.isascii() and len(value) <= _MAX_LENGTH else ""

    def keep(self, response: web.Response, cookie: ForwardCookie, value: str, *, max_age: int) -> None:
        """Set the cookie, or delete it when `max_age` is 0."""
        response.set_cookie(
            self._name(cookie),
            value,
            max_age=max_age,
            path="/",
            secure=self._is_secure,
            httponly=cookie is not ForwardCookie.CSRF,
            samesite="Lax",
        )

    def _name(self, cookie: ForwardCookie) -> str:
        return f"{'__Host-' if self._is_secure else ''}{cookie}.{self._client_id}"
