"""Token requests and userinfo requests to upstream providers: OpenID Connect Core 1.0 §3.1.3, §5.3."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import quote_plus

import msgspec

from identity.authentication.federation.secrets import ProviderSecrets
from identity.delivery.http.documents import UnreadableDocument
from identity.directory.provider import Provider
from identity.foundation.vocabulary import AuthenticationMethod
from server.platform.errors import Unauthenticated


class Upstream(Protocol):
    async def read(self, uri: str, /, *, authorization: str = "") -> str: ...

    async def post(self, uri: str, form: Mapping[str, str], /, *, authorization: str = "") -> str: ...


class _TokenResponse(msgspec.Struct):
    access_token: str
    id_token: str


@dataclass(frozen=True, slots=True)
class UpstreamTokenSet:
    access_token: str = field(repr=False)
    id_token: str = field(repr=False)


class UpstreamTokens:
    def __init__(self, upstream: Upstream, secrets: ProviderSecrets) -> None:
        self._upstream = upstream
        self._secrets = secrets

    async def redeem(
        self, provider: Provider, *, code: str, code_verifier: str, redirect_uri: str
    ) -> UpstreamTokenSet:
        """Raises Unauthenticated when the provider issues no tokens for the code."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": code_verifier,
        }
        members, authorization = self._proof(provider)
        uri = provider.fields.token_endpoint
        try:
            document = await self._upstream.post(uri, form | members, authorization=authorization)
            found = msgspec.json.decode(document, type=_TokenResponse)
        except (UnreadableDocument, msgspec.DecodeError, RecursionError) as error:
            raise Unauthenticated("the provider issued no tokens for its code") from error
        return UpstreamTokenSet(found.access_token, found.id_token)

    async def person(self, provider: Provider, tokens: UpstreamTokenSet, sub: object) -> Mapping[str, object]:
        """Return the userinfo claims; empty when their `sub` is another one: §5.3.2."""
        uri = provider.fields.userinfo_endpoint
        if not uri:
            return {}
        try:
            document = await self._upstream.read(uri, authorization=f"Bearer {tokens.access_token}")
            claims = msgspec.json.decode(document, type=dict[str, object])
        except (UnreadableDocument, msgspec.DecodeError, RecursionError, ValueError) as error:
            raise Unauthenticated("the provider's userinfo response is invalid") from error
        return claims if claims.get("sub") == sub else {}

    def _proof(self, provider: Provider) -> tuple[dict[str, str], str]:
        """Return the client authentication as form members and Authorization header: RFC 6749 §2.3.1."""
        client_id, secret = provider.fields.client_id, self._secrets.open(provider)
        if provider.fields.token_endpoint_auth_method is AuthenticationMethod.CLIENT_SECRET_BASIC:
            credentials = f"{quote_plus(client_id)}:{quote_plus(secret)}"
            return {}, f"Basic {base64.b64encode(credentials.encode()).decode()}"
        return {"client_id": client_id} | ({"client_secret": secret} if secret else {}), ""
