"""GET /oidc/certs and /oidc/certs/{kid}: RFC 7517."""

from aiohttp import web

from edge.kept_documents import Document, KeptDocuments
from edge.oidc.access.documents import document
from edge.oidc.access.request_policy import KEY_SET
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import UNCHANGED, Caller, content, described
from edge.oidc.openapi.schemas import an_object, array
from edge.oidc.openapi.standards import JWK
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import key_set_service_pb2 as pb

_CACHING = "public, max-age=300"


class KeySetEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, kept: KeptDocuments) -> None:
        self._key_sets = stubs.key_sets
        self._kept = kept
        self._timeout = config.call_timeout_seconds
        self._long_timeout = config.long_call_timeout_seconds

    @described(
        "The public keys of the provider as a JWK Set: RFC 7517 §5.",
        content(an_object(keys=array(JWK))),
        UNCHANGED,
        caller=Caller.ANYBODY,
    )
    async def get_all(self, request: web.Request) -> web.Response:
        return (await self._kept.get((KEY_SET.kept, tenant_of(request)), self._made)).response(request)

    @described("One public key as a JWK: RFC 7517 §4.", content(JWK), UNCHANGED, caller=Caller.ANYBODY)
    async def get(self, request: web.Request) -> web.Response:
        tenant_id = tenant_of(request)
        asked = pb.GetKeyRequest(tenant_id=tenant_id, kid=request.match_info["kid"])
        found = await self._key_sets.GetKey(asked, timeout=self._timeout)
        return Document(document(found.key), caching=_CACHING, headers=KEY_SET.all_headers).response(request)

    async def _made(self, tenant: str) -> Document:
        asked = pb.GetKeySetRequest(tenant_id=tenant)
        # The first key set of a tenant waits until its keys are made.
        found = await self._key_sets.GetKeySet(asked, timeout=self._long_timeout)
        return Document(document(found), caching=_CACHING, headers=KEY_SET.all_headers)
