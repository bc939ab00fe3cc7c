"""TokenService."""

import logging

from gnomon.identity.v1 import token_service_pb2 as pb
from identity.clients.authentication import ClientCredentials
from identity.errors import ProtocolError
from identity.grants import scopes
from identity.grants.grant import TokenRequest
from identity.grants.pipeline import TokenPipeline
from identity.tenants import Tenants
from identity.vocabulary import AuthenticationMethod
from server.platform.call import Call

logger = logging.getLogger(__name__)

_METHODS = {
    pb.CLIENT_AUTHENTICATION_SECRET_BASIC: AuthenticationMethod.CLIENT_SECRET_BASIC,
    pb.CLIENT_AUTHENTICATION_SECRET_POST: AuthenticationMethod.CLIENT_SECRET_POST,
}


class TokenServicer:
    def __init__(self, tenants: Tenants, pipeline: TokenPipeline) -> None:
        self._tenants = tenants
        self._pipeline = pipeline

    async def issue_token(self, request: pb.IssueTokenRequest, call: Call) -> pb.IssueTokenResponse:
        try:
            issued = await self._pipeline.issue(self._parse(request))
        except ProtocolError as refusal:
            logger.info("token refused", extra={"error": refusal.error, "request_id": call.request_id})
            raise
        return pb.IssueTokenResponse(
            access_token=issued.token,
            token_type="Bearer",  # noqa: S106  # how the token is presented
            expires_in=int(issued.lifetime.total_seconds()),
            scope=" ".join(issued.oauth_scopes),
        )

    def _parse(self, request: pb.IssueTokenRequest) -> TokenRequest:
        method = _METHODS.get(request.client_authentication, AuthenticationMethod.NONE)
        return TokenRequest(
            tenant=self._tenants.find(request.tenant_id),
            grant_type=request.grant_type,
            credentials=ClientCredentials(method, request.client_id, request.client_secret),
            oauth_scopes=scopes.parse(request.scope),
            audience=request.audience,
            resources=tuple(request.resource),
        )
