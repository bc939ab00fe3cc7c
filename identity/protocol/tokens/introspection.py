"""Token introspection: RFC 7662, RFC 9396 §9.2, and signed responses: RFC 9701.

A caller that may not see a token gets the same response as for an unknown one.
"""

from collections.abc import Mapping

import msgspec

from identity.access.client_authentication.authenticator import ClientAuthenticator, ClientCredentials
from identity.access.tokens.access_token import confirmation_of
from identity.access.tokens.active import ActiveToken, ActiveTokens
from identity.access.tokens.claims import Document
from identity.access.tokens.custom_claims import Asked, Claims, CustomClaims
from identity.access.tokens.families import Families
from identity.access.tokens.keys import KeyRing
from identity.access.tokens.token_set import TokenSet
from identity.directory.authorization_details.details import array_of
from identity.directory.client import Client
from identity.directory.subjects import Subjects
from identity.directory.user import USERS
from identity.foundation.errors import InvalidClient, InvalidToken
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.records import RecordStore

# RFC 9701 §5: the type keeps the response apart from tokens, as does the lack of `sub` and `exp` (§8.1).
JWT_TYPE = "token-introspection+jwt"

INACTIVE: Mapping[str, object] = {"active": False}


class Introspection:
    def __init__(
        self,
        authenticator: ClientAuthenticator,
        tokens: ActiveTokens,
        *,
        families: Families,
        keys: KeyRing,
        custom: CustomClaims,
        subjects: Subjects,
        records: RecordStore,
        clock: Clock,
    ) -> None:
        self._authenticator = authenticator
        self._tokens = tokens
        self._families = families
        self._keys = keys
        self._custom = custom
        self._subjects = subjects
        self._users = records.of(USERS)
        self._clock = clock

    async def for_client(
        self, tenant: Tenant, credentials: ClientCredentials, *, token: str
    ) -> Mapping[str, object]:
        """Answer an authenticated client; raises InvalidClient, also for a public one: §2.1."""
        return await self._for(tenant, await self._client(tenant, credentials), token)

    async def signed_for_client(self, tenant: Tenant, credentials: ClientCredentials, *, token: str) -> str:
        """Like `for_client`, as a JWT."""
        client = await self._client(tenant, credentials)
        return await self._signed(tenant, client, await self._for(tenant, client, token))

    async def for_bearer(self, tenant: Tenant, bearer: str, *, token: str) -> Mapping[str, object]:
        """Answer the holder of a bearer access token; raises InvalidToken."""
        await self._holder(tenant, bearer)
        return await self._for_holder(tenant, token)

    async def signed_for_bearer(self, tenant: Tenant, bearer: str, *, token: str) -> str:
        """Like `for_bearer`, as a JWT for the holder's client."""
        client = await self._holder(tenant, bearer)
        return await self._signed(tenant, client, await self._for_holder(tenant, token))

    async def _client(self, tenant: Tenant, credentials: ClientCredentials) -> Client:
        client = await self._authenticator.authenticate(credentials, tenant)
        if client.is_public:
            raise InvalidClient("client authentication failed")
        return client

    async def _holder(self, tenant: Tenant, bearer: str) -> Client:
        caller = await self._tokens.find(bearer, tenant)
        if not caller.claims.is_bearer:
            raise InvalidToken("the token has to be presented with its proof")
        return caller.client

    async def _for(self, tenant: Tenant, client: Client, token: str) -> Mapping[str, object]:
        try:
            return await self._access_token(tenant, token)
        except InvalidToken:
            return await self._refresh_token(tenant, client, token)

    async def _for_holder(self, tenant: Tenant, token: str) -> Mapping[str, object]:
        try:
            return await self._access_token(tenant, token)
        except InvalidToken:
            return INACTIVE

    async def _signed(self, tenant: Tenant, client: Client, found: Mapping[str, object]) -> str:
        key_set = await self._keys.key_set(tenant.tenant_id)
        claims = {
            "iss": tenant.issuer,
            "aud": client.client_id,
            "iat": int(self._clock.now().timestamp()),
            "token_introspection": found,
        }
        signing_key = key_set.signing_key(client.introspection_signed_response_alg)
        return signing_key.sign(msgspec.json.encode(claims), typ=JWT_TYPE)

    async def _access_token(self, tenant: Tenant, text: str) -> Mapping[str, object]:
        """Raises InvalidToken."""
        token = await self._tokens.find(text, tenant)
        asked = Asked(
            tenant=tenant, client=token.client, user=token.user, oauth_scopes=token.claims.oauth_scopes
        )
        return _described(token, (await self._custom.of(asked))[Document.ACCESS_TOKEN])

    async def _refresh_token(self, tenant: Tenant, client: Client, token: str) -> Mapping[str, object]:
        """Describe a refresh token to its own client only, without using it up."""
        token_set = await self._families.look(tenant, client, token=token)
        if token_set is None:
            return INACTIVE
        user = await self._users.get(tenant.tenant_id, token_set.user_id)
        if user is None or not user.is_active(self._clock.now()) or token_set.expires_at is None:
            return INACTIVE
        if token_set.authentication.is_refused_by_user(user.not_before):
            return INACTIVE
        return {
            "active": True,
            "token_type": "refresh_token",
            "iss": tenant.issuer,
            "sub": self._subjects.of(tenant, client, user.user_id),
            "client_id": token_set.client_id,
            "scope": " ".join(token_set.oauth_scopes),
            "exp": int(token_set.expires_at.timestamp()),
            **_details(token_set),
        }


def _details(token_set: TokenSet) -> Mapping[str, object]:
    details = token_set.authorization_details
    return {"authorization_details": msgspec.Raw(array_of(details))} if details else {}


def _username(token: ActiveToken) -> str:
    """Return the user's name; empty for a pairwise subject, because the name would identify the user."""
    if token.user is None or token.client.has_pairwise_subjects:
        return ""
    return token.user.preferred_username or token.user.email


def _described(token: ActiveToken, custom: Claims) -> Mapping[str, object]:
    claims = token.claims
    described: dict[str, object] = {
        "active": True,
        "token_type": claims.typ.value,
        "iss": claims.iss,
        "sub": claims.sub,
        "aud": claims.aud,
        "client_id": claims.azp,
        "iat": claims.iat,
        "nbf": claims.nbf,
        "exp": claims.exp,
        "jti": claims.jti,
    }
    optional = {
        "scope": claims.scope,
        "sid": claims.sid,
        "did": claims.did,
        "username": _username(token),
        "roles": token.user and token.user.roles,
        "cnf": confirmation_of(claims.cnf.jkt, claims.cnf.certificate),
        "act": claims.act,
        "authorization_details": claims.authorization_details,
    }
    return {**custom, **described, **{name: value for name, value in optional.items() if value}}
