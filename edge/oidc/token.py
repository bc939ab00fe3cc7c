"""POST /oidc/token: RFC 6749 §3.2."""

import grpc
from aiohttp import hdrs, web

from edge.oidc.client_authentication import ClientCredentials, presented
from edge.oidc.config import OidcConfig
from edge.oidc.documents import document
from edge.oidc.form import read_form, single
from edge.oidc.refusal import invalid_client
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import token_service_pb2 as pb
from server.platform.channels import error_of
from server.platform.errors import OAuthError, ServiceError


class TokenEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig) -> None:
        self._tokens = stubs.tokens
        self._config = config

    async def post(self, request: web.Request) -> web.Response:
        form = await read_form(request, self._config.max_form_bytes)
        readings = presented(request.headers.getall(hdrs.AUTHORIZATION, ()), form)
        issuance = pb.IssueTokenRequest(
            tenant_id=request.match_info.get("tenant", ""),
            grant_type=single(form, "grant_type"),
            scope=single(form, "scope"),
            audience=single(form, "audience"),
            resource=form.get("resource", ()),
        )
        issued = await self._issue(issuance, *readings)
        return web.Response(body=document(issued), content_type="application/json")

    async def _issue(
        self, issuance: pb.IssueTokenRequest, reading: ClientCredentials, *others: ClientCredentials
    ) -> pb.IssueTokenResponse:
        issuance.client_id, issuance.client_secret = reading.client_id, reading.client_secret
        issuance.client_authentication = reading.method
        try:
            return await self._tokens.IssueToken(issuance, timeout=self._config.call_timeout_seconds)
        except grpc.RpcError as failure:
            if not _is_invalid_client(error := error_of(failure)):
                raise
            if not others:
                raise invalid_client(error.detail, is_basic=reading.is_basic) from failure
        return await self._issue(issuance, *others)


def _is_invalid_client(error: ServiceError) -> bool:
    return isinstance(error, OAuthError) and error.error == "invalid_client"
