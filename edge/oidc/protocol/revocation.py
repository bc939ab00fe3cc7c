"""POST /oidc/token/revoke: token revocation, RFC 7009."""

from aiohttp import hdrs, web

from edge.oidc.access.client_authentication import ClientCredentials, authenticated, presented
from edge.oidc.access.form import read_form, single
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, described, done, may, needs
from edge.oidc.openapi.parameters import CLIENT_FORM
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import token_service_pb2 as pb


class RevocationEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig) -> None:
        self._tokens = stubs.tokens
        self._config = config

    @described(
        "Revokes a token: RFC 7009. An unknown token is revoked already.",
        done(),
        caller=Caller.CLIENT,
        form=(needs("token", "The token."), may("token_type_hint", "Its type."), *CLIENT_FORM),
    )
    async def post(self, request: web.Request) -> web.Response:
        form = await read_form(request, self._config.max_form_bytes)
        revocation = pb.RevokeTokenRequest(
            tenant_id=tenant_of(request),
            token=single(form, "token"),
            token_type_hint=single(form, "token_type_hint"),
        )

        async def revoke(reading: ClientCredentials) -> pb.RevokeTokenResponse:
            revocation.client.CopyFrom(reading.proof())
            return await self._tokens.RevokeToken(revocation, timeout=self._config.call_timeout_seconds)

        await authenticated(presented(request.headers.getall(hdrs.AUTHORIZATION, ()), form), revoke)
        return web.Response()
