"""POST /oidc/rotate_jwk: an administrator rotates the signing keys."""

import grpc
from aiohttp import hdrs, web

from edge.oidc.access.administration_calls import AdministrationCalls
from edge.oidc.access.refusal import Refused, refused
from edge.oidc.access.tenant import tenant_of
from edge.oidc.openapi.operation import described, done
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import key_set_service_pb2 as pb
from server.platform.channels import error_of
from server.platform.errors import ServiceError, Unauthenticated


class KeyRotationEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls) -> None:
        self._key_sets = stubs.key_sets
        self._calls = calls

    @described("Makes new signing keys; the previous ones stay published.", done())
    async def post(self, request: web.Request) -> web.Response:
        caller = self._calls.caller(request)
        asked = pb.RotateKeysRequest(tenant_id=tenant_of(request), caller=caller)
        try:
            await self._key_sets.RotateKeys(asked, timeout=self._calls.long_timeout)
        except grpc.RpcError as failure:
            raise _refused(error_of(failure), has_token=bool(caller.access_token)) from failure
        return web.Response()


def _refused(error: ServiceError, *, has_token: bool) -> Refused:
    """Challenge the caller for an access token when it is missing or invalid: RFC 6750 §3."""
    refusal = refused(error)
    if isinstance(error, Unauthenticated):
        challenge = 'Bearer error="invalid_token"' if has_token else "Bearer"
        refusal.headers = {hdrs.WWW_AUTHENTICATE: challenge}
    return refusal
