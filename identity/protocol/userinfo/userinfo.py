"""Userinfo: claims about the user of an access token, OpenID Connect Core 1.0 §5.3."""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from identity.access.tokens.claims import PERSON_CLAIMS, ClaimRule, Document, person_claims, requested_claims
from identity.access.tokens.custom_claims import Asked, CustomClaims
from identity.access.tokens.encryptions import ResponseEncryptions
from identity.access.tokens.keys import KeyRing
from identity.directory.client import Client
from identity.foundation.errors import InsufficientScope
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import Scope
from identity.protocol.userinfo.presented import Bearer, PresentedToken, PresentedTokens


@dataclass(frozen=True, slots=True)
class UserInfoDocument:
    """`jwt` are the claims as a signed or encrypted JWT for clients that registered for it; else empty."""

    claims: Mapping[str, object]
    jwt: str = ""


class UserInfo:
    def __init__(
        self,
        tokens: PresentedTokens,
        keys: KeyRing,
        *,
        encryptions: ResponseEncryptions,
        custom: CustomClaims,
        rules: tuple[ClaimRule, ...] = PERSON_CLAIMS,
    ) -> None:
        self._tokens = tokens
        self._keys = keys
        self._encryptions = encryptions
        self._custom = custom
        self._rules = rules

    async def of(self, tenant: Tenant, presented: PresentedToken) -> UserInfoDocument:
        """Return the claims that the token's scopes and its claims parameter open.

        Raises InvalidToken, InsufficientScope, InvalidDpopProof, UseDpopNonce, and Unavailable without a key of the client.
        """
        bearer = await self._tokens.person(tenant, presented)
        if Scope.OPENID not in bearer.token.claims.oauth_scopes:
            raise InsufficientScope("the scope openid is needed")
        claims = await self._claims(tenant, bearer)
        return UserInfoDocument(claims, await self._jwt(tenant, bearer.token.client, claims))

    async def _jwt(self, tenant: Tenant, client: Client, claims: Mapping[str, object]) -> str:
        """§5.3.2: signed, then encrypted, each if the client wants it."""
        algorithm = client.userinfo_signed_response_alg
        encryption = await self._encryptions.of_user_info(client)
        if algorithm is None:
            return "" if encryption is None else encryption.of_claims(msgspec.json.encode(claims))
        signing_key = (await self._keys.key_set(tenant.tenant_id)).signing_key(algorithm)
        # A signed response needs an issuer and an audience.
        signed = {**claims, "iss": tenant.issuer, "aud": client.client_id}
        token = signing_key.sign(msgspec.json.encode(signed))
        return token if encryption is None else encryption.of_jwt(token)

    async def _claims(self, tenant: Tenant, bearer: Bearer) -> Mapping[str, object]:
        parameter = bearer.token_set.claims
        asked = Asked(
            tenant=tenant,
            client=bearer.token.client,
            user=bearer.user,
            oauth_scopes=bearer.token.claims.oauth_scopes,
            parameter=parameter,
        )
        person = person_claims(
            bearer.user,
            Document.USER_INFO,
            issuer=tenant.issuer,
            subject=bearer.token.claims.sub,
            oauth_scopes=asked.oauth_scopes,
            requested=requested_claims(parameter, Document.USER_INFO),
            rules=self._rules,
        )
        custom = (await self._custom.of(asked))[Document.USER_INFO]
        return {**custom, **person, "sub": bearer.token.claims.sub}
