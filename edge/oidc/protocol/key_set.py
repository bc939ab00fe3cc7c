"""GET /oidc/certs and /oidc/certs/{kid}: RFC 7517."""

import hashlib

from aiohttp import ETag, hdrs, web

from edge.oidc.access.documents import document
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import UNCHANGED, Caller, content, described
from edge.oidc.openapi.schemas import OBJECT, an_object, array
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import key_set_service_pb2 as pb

_CACHE_CONTROL = "public, max-age=300"
_ETAG_LENGTH = 32


class KeySetEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig) -> None:
        self._key_sets = stubs.key_sets
        self._timeout = config.call_timeout_seconds
        self._long_timeout = config.long_call_timeout_seconds

    @described(
        "The public keys of the provider as a JWK Set: RFC 7517 §5.",
        content(an_object(keys=array(OBJECT))),
        UNCHANGED,
        caller=Caller.ANYBODY,
    )
    async def get_all(self, request: web.Request) -> web.Response:
        asked = pb.GetKeySetRequest(tenant_id=tenant_of(request))
        # The first key set of a tenant waits until its keys are made.
        found = await self._key_sets.GetKeySet(asked, timeout=self._long_timeout)
        return _cacheable(request, document(found))

    @described("One public key as a JWK: RFC 7517 §4.", content(OBJECT), UNCHANGED, caller=Caller.ANYBODY)
    async def get(self, request: web.Request) -> web.Response:
        tenant_id = tenant_of(request)
        asked = pb.GetKeyRequest(tenant_id=tenant_id, kid=request.match_info["kid"])
        found = await self._key_sets.GetKey(asked, timeout=self._timeout)
        return _cacheable(request, document(found.key))


def _cacheable(request: web.Request, body: bytes) -> web.Response:
    etag = ETag(hashlib.sha256(body).hexdigest()[:_ETAG_LENGTH])
    is_current = any(known.value in {"*", etag.value} for known in request.if_none_match or ())
    response = (
        web.Response(status=304) if is_current else web.Response(body=body, content_type="application/json")
    )
    response.etag = etag
    response.headers[hdrs.CACHE_CONTROL] = _CACHE_CONTROL
    return response
