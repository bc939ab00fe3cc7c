"""The caller of an administration endpoint for the services: an API key, an access token or a browser."""

from aiohttp import hdrs, web

from edge.oidc.access.body import bad_request
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.refusal import Refused
from gnomon.identity.v1 import browser_pb2
from gnomon.identity.v1 import caller_pb2 as pb

_READING = frozenset({"GET", "HEAD"})
_MOST = {"api-key": 512, "bearer": 4096}


def caller_of(request: web.Request, browsers: Browsers) -> pb.Caller:
    """Raises Refused for ambiguous credentials, or for an unsupported scheme."""
    authorizations = request.headers.getall(hdrs.AUTHORIZATION, ())
    if len(authorizations) > 1:
        raise bad_request("the Authorization header comes more than once")
    if not authorizations:
        return pb.Caller(browser=browsers.of(request), is_read=request.method in _READING)
    scheme, _, credentials = authorizations[0].partition(" ")
    credentials = credentials.strip()
    is_plausible = credentials.isascii() and 0 < len(credentials) <= _MOST.get(scheme.lower(), 0)
    if not is_plausible:
        raise Refused(401, "Unauthorized", "expected an API key or an access token", headers=_CHALLENGE)
    peer = browser_pb2.Browser(peer_address=browsers.peer_address(request))
    if scheme.lower() == "api-key":
        return pb.Caller(api_key=credentials, browser=peer)
    return pb.Caller(access_token=credentials, browser=peer)


_CHALLENGE: dict[str, str] = {hdrs.WWW_AUTHENTICATE: "OAuth"}
