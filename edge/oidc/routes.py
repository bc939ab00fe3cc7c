"""Every address of the provider, in one table."""

from collections.abc import Iterator

from aiohttp import hdrs, web

from edge.oidc.config import OidcConfig
from edge.oidc.discovery import DiscoveryEndpoint
from edge.oidc.endpoint import Endpoint, Handler
from edge.oidc.entry import PREFIX, entry_page, to_entry_page
from edge.oidc.key_set import KeySetEndpoint
from edge.oidc.stubs import stubs_of
from edge.oidc.token import TokenEndpoint
from server.platform.channels import Channel
from server.platform.clock import Clock, SystemClock

_TENANT = f"{PREFIX}/{{tenant}}"
_OPENID = "/.well-known/openid-configuration"
_OAUTH = "/.well-known/oauth-authorization-server"

# RFC 8414 §3.1 inserts the well-known part before the issuer's path; the issuer ends with a slash.
_DISCOVERY = (
    *(f"{PREFIX}{_OPENID}", f"{PREFIX}{_OAUTH}", _OPENID, _OAUTH, f"{_OAUTH}{PREFIX}", f"{_OAUTH}{PREFIX}/"),
    *(f"{_TENANT}{_OPENID}", f"{_TENANT}{_OAUTH}", f"{_OAUTH}{_TENANT}", f"{_OAUTH}{_TENANT}/"),
)

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def routes(channel: Channel, config: OidcConfig, clock: Clock | None = None) -> list[web.RouteDef]:
    """Return the routes of the provider, whose services are behind the channel."""
    endpoints = _endpoints(channel, config, clock or SystemClock())
    return [web.route(hdrs.METH_ANY, path, endpoint.serve) for path, endpoint in endpoints]


def _endpoints(channel: Channel, config: OidcConfig, clock: Clock) -> Iterator[tuple[str, Endpoint]]:
    stubs = stubs_of(channel)
    metadata = DiscoveryEndpoint(stubs, config)
    token, keys = TokenEndpoint(stubs, config), KeySetEndpoint(stubs, config)

    for path in _DISCOVERY:
        yield path, _public_document(metadata.get, clock)
    for issuer in (PREFIX, _TENANT):
        yield f"{issuer}/oidc/token", Endpoint(handlers={"POST": token.post}, clock=clock, is_protocol=True)
        yield f"{issuer}/oidc/certs", _public_document(keys.get_all, clock)
        yield f"{issuer}/oidc/certs/{{kid}}", _public_document(keys.get, clock)
    yield f"{PREFIX}/", Endpoint(handlers={"GET": entry_page}, clock=clock)
    for unknown in ("/auth", "/auth/{rest:.*}"):
        yield unknown, Endpoint(handlers=dict.fromkeys(_METHODS, to_entry_page), clock=clock)


def _public_document(handler: Handler, clock: Clock) -> Endpoint:
    return Endpoint(handlers={"GET": handler}, clock=clock, is_public_document=True)
