"""POST /oidc/rotate_jwk: an administrator makes new keys sign."""

import grpc
from aiohttp import hdrs, web

from edge.metadata import Metadata, metadata_of, request_id_of
from edge.oidc.config import OidcConfig
from edge.oidc.refusal import Refused, refused
from edge.oidc.stubs import Stubs
from edge.oidc.tenant import tenant_of
from gnomon.identity.v1 import key_set_service_pb2 as pb
from server.platform.call import TENANT
from server.platform.channels import error_of
from server.platform.errors import InvalidArgument, ServiceError, Unauthenticated


class KeyRotationEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig) -> None:
        self._key_sets = stubs.key_sets
        self._timeout = config.long_call_timeout_seconds

    async def post(self, request: web.Request) -> web.Response:
        try:
            await self._key_sets.RotateKeys(
                pb.RotateKeysRequest(), timeout=self._timeout, metadata=_metadata(request)
            )
        except grpc.RpcError as failure:
            raise _refused(error_of(failure), request) from failure
        return web.Response()


def _metadata(request: web.Request) -> Metadata:
    """Say who calls; where the address names a tenant, the caller acts in that one."""
    try:
        sent = metadata_of(request.headers, request_id_of(request), is_command=True)
    except InvalidArgument as error:
        raise refused(error) from error
    tenant = tenant_of(request)
    if not tenant:
        return sent
    return [*((name, value) for name, value in sent if name != TENANT), (TENANT, tenant)]


def _refused(error: ServiceError, request: web.Request) -> Refused:
    """Ask for an access token where one is missing or does not hold: RFC 6750 §3."""
    refusal = refused(error)
    if isinstance(error, Unauthenticated):
        is_presented = hdrs.AUTHORIZATION in request.headers
        challenge = 'Bearer error="invalid_token"' if is_presented else "Bearer"
        refusal.headers = {hdrs.WWW_AUTHENTICATE: challenge}
    return refusal
