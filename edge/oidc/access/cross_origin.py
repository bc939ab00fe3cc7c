"""CORS responses with credentials: Fetch §3.3.

Such a response names the one origin that may read it, after a service has permitted that origin.
"""

from aiohttp import hdrs, web

from edge.oidc.access.refusal import invalid_request

_MAX_LENGTH = 300


def origin_of(request: web.Request) -> str:
    """Return the Origin header; raises Refused without one."""
    origins = request.headers.getall(hdrs.ORIGIN, ())
    if len(origins) != 1 or not origins[0].isascii() or not 0 < len(origins[0]) <= _MAX_LENGTH:
        raise invalid_request("expected one Origin")
    return origins[0]


def readable(response: web.Response, origin: str) -> web.Response:
    """Permit pages of the origin to read the response."""
    response.headers[hdrs.ACCESS_CONTROL_ALLOW_ORIGIN] = origin
    response.headers[hdrs.ACCESS_CONTROL_ALLOW_CREDENTIALS] = "true"
    return response
