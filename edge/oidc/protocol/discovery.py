"""GET of the provider metadata at all its addresses: OpenID Connect Discovery 1.0 §4, RFC 8414 §3.

A tenant has one document, whatever the address and the Host header.
"""

from aiohttp import web

from edge.kept_documents import REVALIDATED, Document, KeptDocuments
from edge.oidc.access.documents import document
from edge.oidc.access.request_policy import METADATA
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import UNCHANGED, Caller, content, described
from edge.oidc.openapi.schemas import published
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import discovery_service_pb2 as pb


class DiscoveryEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, kept: KeptDocuments) -> None:
        self._discovery = stubs.discovery
        self._kept = kept
        self._timeout = config.call_timeout_seconds

    @described(
        "The metadata of the provider: OpenID Connect Discovery 1.0 and RFC 8414.",
        content(published(pb.GetMetadataResponse, "metadata")),
        UNCHANGED,
        caller=Caller.ANYBODY,
    )
    async def get(self, request: web.Request) -> web.Response:
        return (await self._kept.get((METADATA.kept, tenant_of(request)), self._made)).response(request)

    async def _made(self, tenant: str) -> Document:
        asked = pb.GetMetadataRequest(tenant_id=tenant)
        found = await self._discovery.GetMetadata(asked, timeout=self._timeout)
        return Document(document(found.metadata), caching=REVALIDATED, headers=METADATA.all_headers)
