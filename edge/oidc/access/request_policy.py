"""Policies of endpoints: permitted origins, CORS, response headers and the form of errors.

Requests of other origins are permitted where no cookie is involved: with `*`, never with credentials. Requests that
browsers make by themselves are handled by `edge.oidc.access.cross_origin`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from aiohttp import web
from multidict import istr

from edge.oidc.access.fetch_metadata import (
    from_anywhere,
    from_browser_itself,
    from_our_origin,
    from_our_pages,
)
from edge.oidc.access.refusal import Refused, refused, refused_by_protocol
from server.platform.errors import ServiceError

SECURITY_HEADERS = {
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
    "Content-Security-Policy": "frame-ancestors 'none'; object-src 'none';",
    "Cache-Control": "no-store",
}

_ANY_ORIGIN = {"Access-Control-Allow-Origin": "*"}
_READABLE = {"Access-Control-Expose-Headers": "DPoP-Nonce, WWW-Authenticate"}
_SENDABLE = {"Access-Control-Allow-Headers": "Authorization, Content-Type, DPoP"}
_PREFLIGHT = {"Access-Control-Max-Age": "7200"}

# RFC 6749 §5.1: in addition to Cache-Control, for HTTP/1.0 caches.
_NO_CACHE = {"Pragma": "no-cache"}


class Coverage(Enum):
    """Requests that rules about countries and autonomous systems refuse: those of users, and by setting of clients.

    With `SESSIONS`, a request without an Authorization header is one of a user.
    """

    NONE = auto()
    CLIENTS = auto()
    SESSIONS = auto()
    USERS = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestPolicy:
    """`admit` raises Refused; `preflight` are the headers of a CORS preflight response, empty to refuse it.

    With `has_pages` a browser that navigates gets errors as a page. A response that `is_static` is the same for
    everybody: neither the tenant of the host nor the block list is looked up. With `has_one_host` a browser at another
    address of the listener is redirected to the canonical host. `kept` is the name of the document at the endpoint, when
    it is kept in memory. `refusal_type` is the media type of errors.
    """

    refused: Callable[[ServiceError], Refused] = refused
    admit: Callable[[web.Request], None] = from_our_pages
    headers: Mapping[str, str] = field(default_factory=dict)
    preflight: Mapping[str, str] = field(default_factory=dict)
    is_oauth: bool = False
    has_pages: bool = True
    is_static: bool = False
    has_one_host: bool = False
    kept: str = ""
    coverage: Coverage = Coverage.USERS
    refusal_type: str = "application/json"
    all_headers: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        headers = {**SECURITY_HEADERS, **self.headers}
        object.__setattr__(self, "all_headers", {istr(name): value for name, value in headers.items()})

    def method_not_allowed(self, allowed: str) -> Refused:
        error = "invalid_request" if self.is_oauth else "MethodNotAllowed"
        return Refused(405, error, f"expected {allowed}", is_oauth=self.is_oauth, headers={"Allow": allowed})


OWN_PAGES = RequestPolicy(has_one_host=True)
ADMINISTRATION = replace(OWN_PAGES, coverage=Coverage.SESSIONS)
OWN_ORIGIN = RequestPolicy(admit=from_our_origin)
FROM_ANYWHERE = RequestPolicy(admit=from_anywhere, has_one_host=True)
# A user can always sign out.
SIGN_OUT = replace(FROM_ANYWHERE, coverage=Coverage.NONE)
STATIC = RequestPolicy(admit=from_anywhere, is_static=True)
# A reverse proxy passes on a request to another host.
FROM_PROXIES = RequestPolicy(admit=from_anywhere, coverage=Coverage.CLIENTS)
PUBLIC_DOCUMENT = RequestPolicy(
    admit=from_anywhere,
    coverage=Coverage.NONE,
    headers=_ANY_ORIGIN,
    preflight=_ANY_ORIGIN | _PREFLIGHT,
)
# A browser that knows frame-ancestors ignores X-Frame-Options.
FRAMED = RequestPolicy(
    admit=from_anywhere,
    coverage=Coverage.NONE,
    headers={
        "Content-Security-Policy": "default-src 'none'; script-src 'self'; base-uri 'none'; frame-ancestors *",
        "Cache-Control": "private, max-age=3600",
    },
)
METADATA = replace(PUBLIC_DOCUMENT, kept="metadata")
RESOURCE_METADATA = replace(PUBLIC_DOCUMENT, kept="resource metadata")
KEY_SET = replace(PUBLIC_DOCUMENT, kept="key set")
FROM_ANY_PAGE = replace(
    PUBLIC_DOCUMENT,
    coverage=Coverage.USERS,
    has_one_host=True,
    preflight=_ANY_ORIGIN | {"Access-Control-Allow-Headers": "Content-Type"} | _PREFLIGHT,
)
# Responses differ by origin, so caches must not reuse them.
BROWSER_ITSELF = RequestPolicy(admit=from_browser_itself, headers={"Vary": "Origin"})
PROTOCOL = RequestPolicy(
    refused=refused_by_protocol,
    admit=from_anywhere,
    coverage=Coverage.CLIENTS,
    headers=_NO_CACHE,
    is_oauth=True,
)
# A proxy passes on the headers of a browser, and acts upon the status.
ASKED_BY_PROXY = replace(FROM_PROXIES, has_pages=False)
TOKEN_OF_PROXY = replace(PROTOCOL, has_pages=False)
PROTOCOL_FOR_PAGES = replace(
    PROTOCOL, headers=_NO_CACHE | _ANY_ORIGIN | _READABLE, preflight=_ANY_ORIGIN | _SENDABLE | _PREFLIGHT
)
