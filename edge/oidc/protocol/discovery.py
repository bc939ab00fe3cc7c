"""GET of the provider metadata at all its addresses: OpenID Connect Discovery 1.0 §4, RFC 8414 §3.

A tenant has one document, whatever the address and the Host header.
"""

from aiohttp import web

from edge.oidc.access.documents import document
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, content, described
from edge.oidc.openapi.schemas import published
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import discovery_service_pb2 as pb


class DiscoveryEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig) -> None:
        self._discovery = stubs.discovery
        self._timeout = config.call_timeout_seconds

    @described(
        "The metadata of the provider: OpenID Connect Discovery 1.0 and RFC 8414.",
        content(published(pb.GetMetadataResponse, "metadata")),
        caller=Caller.ANYBODY,
    )
    async def get(self, request: web.Request) -> web.Response:
        asked = pb.GetMetadataRequest(tenant_id=tenant_of(request))
        found = await self._discovery.GetMetadata(asked, timeout=self._timeout)
        return web.Response(body=document(found.metadata), content_type="application/json")
