"""GET /.well-known/oauth-protected-resource: the process API as a protected resource, RFC 9728 §3.

The resource is the origin of the issuer. At the host of a tenant, it is that origin, and its authorization server is
the tenant's.
"""

from functools import cache
from urllib.parse import urlsplit

import orjson
from aiohttp import web

from edge.kept_documents import REVALIDATED, Document, KeptDocuments
from edge.oidc.access.request_policy import RESOURCE_METADATA
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import UNCHANGED, Caller, content, described
from edge.oidc.openapi.schemas import STRING, STRINGS, an_object
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import discovery_service_pb2 as pb
from server.platform.policy import policies_of, services

PATH = "/.well-known/oauth-protected-resource"

_NAME = "Gnomon process API"


class ProtectedResourceEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, kept: KeptDocuments) -> None:
        self._discovery = stubs.discovery
        self._kept = kept
        self._timeout = config.call_timeout_seconds

    @described(
        "The metadata of the process API as a protected resource: RFC 9728.",
        content(an_object(resource=STRING, authorization_servers=STRINGS)),
        UNCHANGED,
        caller=Caller.ANYBODY,
    )
    async def get(self, request: web.Request) -> web.Response:
        return (await self._kept.get((RESOURCE_METADATA.kept, tenant_of(request)), self._made)).response(
            request
        )

    async def _made(self, tenant: str) -> Document:
        asked = pb.GetMetadataRequest(tenant_id=tenant)
        found = await self._discovery.GetMetadata(asked, timeout=self._timeout)
        issuer = found.metadata.issuer
        members = {
            "resource": _origin(issuer),
            "authorization_servers": [issuer],
            "scopes_supported": list(permissions()),
            "bearer_methods_supported": ["header"],
            "resource_name": _NAME,
        }
        return Document(orjson.dumps(members), caching=REVALIDATED, headers=RESOURCE_METADATA.all_headers)


@cache
def permissions() -> tuple[str, ...]:
    """Return the permissions that operations of the process API need; each is a scope."""
    found = {
        policy.permission
        for service in services()
        for policy in policies_of(service).values()
        if policy.permission and policy.has_route
    }
    return tuple(sorted(found))


def _origin(issuer: str) -> str:
    parts = urlsplit(issuer)
    return f"{parts.scheme}://{parts.netloc}"
