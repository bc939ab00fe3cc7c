"""POST /oidc/introspect: RFC 7662. The caller presents client credentials or an access token.

The response is a signed JWT for a caller that accepts one by its media type: RFC 9701 §4.
"""

import re
from collections.abc import Sequence

import grpc
from aiohttp import hdrs, web

from edge.oidc.access.bearer import refused_to_bearer
from edge.oidc.access.client_authentication import ClientCredentials, authenticated, presented
from edge.oidc.access.form import read_form, single
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, content, described, may, needs, plain
from edge.oidc.openapi.parameters import CLIENT_FORM
from edge.oidc.openapi.standards import INTROSPECTION
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import token_service_pb2 as pb
from server.platform.channels import error_of

_SIGNED = "application/token-introspection+jwt"
_REFUSED_WEIGHT = re.compile(r";\s*q\s*=\s*0(\.0{0,3})?\s*(;|$)", re.IGNORECASE)


class IntrospectionEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig) -> None:
        self._tokens = stubs.tokens
        self._config = config

    @described(
        "Says whether a token is active, and its claims: RFC 7662.",
        content(INTROSPECTION),
        plain("Signed claims, for a caller that accepts this type: RFC 9701.", media_type=_SIGNED),
        caller=Caller.CLIENT_OR_TOKEN,
        form=(needs("token", "The token."), may("token_type_hint", "Its type."), *CLIENT_FORM),
    )
    async def post(self, request: web.Request) -> web.Response:
        form = await read_form(request, self._config.max_form_bytes)
        question = pb.IntrospectTokenRequest(
            tenant_id=tenant_of(request),
            token=single(form, "token"),
            token_type_hint=single(form, "token_type_hint"),
            wants_jwt=_accepts_jwt(request.headers.getall(hdrs.ACCEPT, ())),
        )
        authorizations = request.headers.getall(hdrs.AUTHORIZATION, ())
        if bearer := _bearer(authorizations):
            question.bearer = bearer
            answer = await self._ask_by_token(question)
        else:
            answer = await self._ask_by_client(question, presented(authorizations, form))
        if answer.jwt:
            return web.Response(text=answer.jwt, content_type=_SIGNED)
        return web.Response(body=answer.document, content_type="application/json")

    async def _ask_by_client(
        self, question: pb.IntrospectTokenRequest, readings: Sequence[ClientCredentials]
    ) -> pb.IntrospectTokenResponse:
        async def ask(reading: ClientCredentials) -> pb.IntrospectTokenResponse:
            question.client.CopyFrom(reading.proof())
            return await self._ask(question)

        return await authenticated(readings, ask)

    async def _ask_by_token(self, question: pb.IntrospectTokenRequest) -> pb.IntrospectTokenResponse:
        try:
            return await self._ask(question)
        except grpc.RpcError as failure:
            raise refused_to_bearer(error_of(failure), is_dpop=False) from failure

    async def _ask(self, question: pb.IntrospectTokenRequest) -> pb.IntrospectTokenResponse:
        return await self._tokens.IntrospectToken(question, timeout=self._config.call_timeout_seconds)


def _accepts_jwt(accepts: Sequence[str]) -> bool:
    """Whether a media range names the signed response itself, with a weight above 0: RFC 9110 §12.5.1."""
    ranges = [each.strip() for accept in accepts for each in accept.split(",")]
    return any(
        each.partition(";")[0].strip().lower() == _SIGNED and _REFUSED_WEIGHT.search(each) is None
        for each in ranges
    )


def _bearer(authorizations: Sequence[str]) -> str:
    """Return the caller's access token, empty for a caller with client credentials."""
    if len(authorizations) != 1 or not authorizations[0].isascii():
        return ""
    scheme, _, token = authorizations[0].partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
