"""The browser session and the client certificate of a request to the process API, as metadata of its call.

A request with an Authorization header has none. Requests of pages of other sites have none either: their cookies count
for nothing, as at the endpoints of the provider.
"""

import re
from collections.abc import Iterator

from aiohttp import hdrs, web
from multidict import istr

from edge.metadata import Metadata
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.client_certificates import ClientCertificates
from edge.oidc.access.fetch_metadata import from_our_origin
from edge.oidc.access.hosts import Hosts
from edge.oidc.access.peers import Peers
from edge.oidc.access.refusal import Refused
from edge.oidc.config import AccessConfig, OidcConfig
from edge.oidc.stubs import stubs_of
from server.platform.call import BROWSER_ADDRESS, CSRF_TOKEN, SESSIONS
from server.platform.channels import Channel
from server.platform.clock import SystemClock
from server.platform.dpop import CarriedProof
from server.platform.mutual_tls import MutualTlsConfig

_TENANT = istr("x-tenant-id")
_DPOP = istr("DPoP")
_SLUG = re.compile(r"[a-z0-9-]{1,32}")


class SessionCredential:
    def __init__(self, hosts: Hosts, browsers: Browsers, certificates: ClientCertificates) -> None:
        self._hosts = hosts
        self._browsers = browsers
        self._certificates = certificates

    async def metadata_of(self, request: web.Request) -> Metadata:
        """Return the sessions of the browser, its address and CSRF token, or else what the client proves keys with."""
        return await self._session(request) or self._certificates.metadata_of(request) + _proof(request)

    async def _session(self, request: web.Request) -> Metadata:
        headers = request.headers
        if hdrs.AUTHORIZATION in headers or hdrs.COOKIE not in headers or not _is_from_our_pages(request):
            return []
        tenants = dict.fromkeys((*_named(request), await self._hosts.tenant_at(request), ""))
        cookies = [(tenant, self._browsers.session(request, tenant)) for tenant in tenants]
        sessions = " ".join(f"{tenant}={cookie}" for tenant, cookie in cookies if cookie.isalnum())
        if not sessions:
            return []
        return [
            (SESSIONS, sessions),
            (BROWSER_ADDRESS, self._browsers.peer_address(request)),
            (CSRF_TOKEN, self._browsers.csrf_token(request)),
        ]


def _proof(request: web.Request) -> Metadata:
    """Return the DPoP proof with its request; nothing for a repeated one: RFC 9449 §4.3."""
    proofs = request.headers.getall(_DPOP, ())
    if len(proofs) != 1 or not proofs[0].isascii() or not proofs[0].isprintable():
        return []
    return CarriedProof(proofs[0], request.method, request.rel_url.raw_path).metadata


def session_credential(
    channel: Channel,
    config: OidcConfig,
    *,
    access: AccessConfig,
    has_tls: bool,
    mutual_tls: MutualTlsConfig | None = None,
) -> SessionCredential:
    """Return it for an application whose provider is behind the channel."""
    hosts = Hosts(stubs_of(channel), config, peers=Peers(access.trusted_proxies), clock=SystemClock())
    certificates = ClientCertificates(mutual_tls or MutualTlsConfig())
    return SessionCredential(hosts, Browsers(access, has_tls=has_tls), certificates)


def _named(request: web.Request) -> Iterator[str]:
    """Yield the tenant that the request names, if a session can be of it."""
    tenant = request.headers.get(_TENANT, "")
    if _SLUG.fullmatch(tenant):
        yield tenant


def _is_from_our_pages(request: web.Request) -> bool:
    try:
        from_our_origin(request)
    except Refused:
        return False
    return True
