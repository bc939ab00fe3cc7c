"""Token requests and userinfo requests to upstream providers: OpenID Connect Core 1.0 §3.1.3, §5.3."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar
from urllib.parse import quote_plus

import msgspec

from identity.authentication.federation.secrets import ProviderSecrets
from identity.authentication.federation.signed_secrets import signed_secret
from identity.authentication.federation.userinfo import standard_claims
from identity.delivery.http.documents import UnreadableDocument
from identity.directory.provider import Provider, UserinfoProfile
from identity.foundation.vocabulary import AuthenticationMethod
from server.platform.clock import Clock
from server.platform.errors import Unauthenticated

T = TypeVar("T")
_Claims = dict[str, object]


class Upstream(Protocol):
    async def read(self, uri: str, /, *, authorization: str = "") -> str: ...

    async def post(self, uri: str, form: Mapping[str, str], /, *, authorization: str = "") -> str: ...


class _TokenResponse(msgspec.Struct):
    access_token: str
    # A provider of OAuth 2.0 alone issues none.
    id_token: str = ""


@dataclass(frozen=True, slots=True)
class UpstreamTokenSet:
    access_token: str = field(repr=False)
    id_token: str = field(repr=False)


class UpstreamTokens:
    def __init__(self, upstream: Upstream, secrets: ProviderSecrets, clock: Clock) -> None:
        self._upstream = upstream
        self._secrets = secrets
        self._clock = clock

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
        claims = await self._read(uri, tokens, _Claims)
        return claims if claims.get("sub") == sub else {}

    async def profile(
        self, provider: Provider, profile: UserinfoProfile, tokens: UpstreamTokenSet
    ) -> Mapping[str, object]:
        """Return the claims of the user whose access token it is; raises Unauthenticated."""
        userinfo = await self._read(provider.fields.userinfo_endpoint, tokens, _Claims)
        uri = profile.emails_endpoint
        addresses = await self._read(uri, tokens, list[object]) if uri else ()
        return standard_claims(userinfo, addresses, profile)

    async def _read(self, uri: str, tokens: UpstreamTokenSet, kind: type[T]) -> T:
        try:
            document = await self._upstream.read(uri, authorization=f"Bearer {tokens.access_token}")
            return msgspec.json.decode(document, type=kind)
        except (UnreadableDocument, msgspec.DecodeError, RecursionError, ValueError) as error:
            raise Unauthenticated("the provider's userinfo response is invalid") from error

    def _proof(self, provider: Provider) -> tuple[dict[str, str], str]:
        """Return the client authentication as form members and Authorization header: RFC 6749 §2.3.1."""
        client_id, secret = provider.fields.client_id, self._secrets.open(provider)
        if provider.fields.signed_secret is not None:
            secret = signed_secret(provider.fields, provider.fields.signed_secret, secret, self._clock)
        if provider.fields.token_endpoint_auth_method is AuthenticationMethod.CLIENT_SECRET_BASIC:
            credentials = f"{quote_plus(client_id)}:{quote_plus(secret)}"
            return {}, f"Basic {base64.b64encode(credentials.encode()).decode()}"
        return {"client_id": client_id} | ({"client_secret": secret} if secret else {}), ""
