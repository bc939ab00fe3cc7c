"""TokenService."""

import logging

import msgspec

from gnomon.identity.v1 import token_service_pb2 as pb
from identity.access.client_authentication.authenticator import ClientCredentials
from identity.access.rpc.client_credentials import credentials_of, method_of
from identity.directory import oauth_scopes as scopes
from identity.directory.authorization_details.details import array_of
from identity.foundation.errors import ProtocolError
from identity.foundation.tenants import Tenant, Tenants
from identity.protocol.grants.grant import ExchangeRequest, TokenRequest, TypedToken
from identity.protocol.grants.pipeline import TokenPipeline
from identity.protocol.tokens.introspection import Introspection
from identity.protocol.tokens.revocation import Revocation
from server.platform.call import Call
from server.platform.mutual_tls import certificate_of

logger = logging.getLogger(__name__)


class TokenServicer:
    def __init__(
        self,
        tenants: Tenants,
        pipeline: TokenPipeline,
        *,
        introspection: Introspection,
        revocation: Revocation,
    ) -> None:
        self._tenants = tenants
        self._pipeline = pipeline
        self._introspection = introspection
        self._revocation = revocation

    async def issue_token(self, request: pb.IssueTokenRequest, call: Call) -> pb.IssueTokenResponse:
        try:
            issued = await self._pipeline.issue(self._parse(request, call))
        except ProtocolError as refusal:
            logger.info("token refused", extra={"error": refusal.error, "request_id": call.request_id})
            raise
        return pb.IssueTokenResponse(
            access_token=issued.access_token,
            token_type=issued.token_type,
            expires_in=int(issued.lifetime.total_seconds()),
            scope=" ".join(issued.oauth_scopes),
            id_token=issued.id_token or None,
            refresh_token=issued.refresh_token or None,
            dpop_nonce=issued.dpop_nonce or None,
            issued_token_type=issued.issued_token_type or None,
            authorization_details=array_of(details) if (details := issued.authorization_details) else None,
        )

    async def introspect_token(
        self, request: pb.IntrospectTokenRequest, call: Call
    ) -> pb.IntrospectTokenResponse:
        tenant = self._tenants.find(request.tenant_id)
        if request.wants_jwt:
            return pb.IntrospectTokenResponse(jwt=await self._signed(tenant, request, call))
        if request.bearer:
            found = await self._introspection.for_bearer(tenant, request.bearer, token=request.token)
        else:
            credentials = credentials_of(request.client, call)
            found = await self._introspection.for_client(tenant, credentials, token=request.token)
        return pb.IntrospectTokenResponse(document=msgspec.json.encode(found))

    async def _signed(self, tenant: Tenant, request: pb.IntrospectTokenRequest, call: Call) -> str:
        if request.bearer:
            return await self._introspection.signed_for_bearer(tenant, request.bearer, token=request.token)
        credentials = credentials_of(request.client, call)
        return await self._introspection.signed_for_client(tenant, credentials, token=request.token)

    async def revoke_token(self, request: pb.RevokeTokenRequest, call: Call) -> pb.RevokeTokenResponse:
        tenant = self._tenants.find(request.tenant_id)
        credentials = credentials_of(request.client, call)
        await self._revocation.revoke(tenant, credentials, token=request.token)
        return pb.RevokeTokenResponse()

    def _parse(self, request: pb.IssueTokenRequest, call: Call) -> TokenRequest:
        return TokenRequest(
            tenant=self._tenants.find(request.tenant_id),
            grant_type=request.grant_type,
            credentials=ClientCredentials(
                method_of(request.client_authentication),
                request.client_id,
                request.client_secret,
                request.client_assertion,
                certificate_of(call),
            ),
            oauth_scopes=scopes.parse(request.scope),
            audience=request.audience,
            resources=tuple(request.resource),
            code=request.code,
            redirect_uri=request.redirect_uri,
            code_verifier=request.code_verifier,
            refresh_token=request.refresh_token,
            device_code=request.device_code,
            auth_req_id=request.auth_req_id,
            assertion=request.assertion,
            authorization_details=request.authorization_details,
            exchange=ExchangeRequest(
                subject=TypedToken(request.subject_token, request.subject_token_type),
                actor=TypedToken(request.actor_token, request.actor_token_type),
                requested_token_type=request.requested_token_type,
            ),
            dpop=request.dpop if request.HasField("dpop") else None,
        )
