"""Redeems an authorization code for the session cookie of a service behind a proxy."""

import hmac
from dataclasses import dataclass, field, replace
from datetime import datetime

from identity.access.client_authentication.authenticator import ClientCredentials
from identity.access.tokens.token_set import TokenSet
from identity.directory.client import Client
from identity.directory.secrets import SecretHasher
from identity.foundation.errors import InvalidGrant
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import AuthenticationMethod, GrantType
from identity.protocol.forward_auth.csrf import hashed
from identity.protocol.forward_auth.records import FORWARD_SESSIONS, ForwardSession
from identity.protocol.grants.continuation import Continuation, Order
from identity.protocol.grants.grant import Authorization, Grant, TokenRequest
from identity.protocol.grants.people import People
from server.platform.records import RecordStore

_COOKIE_LENGTH = 64
_CSRF_TOKEN_LENGTH = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """`cookie` is the value of the session cookie; the record holds a hash only."""

    cookie: str = field(repr=False)
    csrf_token: str = field(repr=False)
    expires_at: datetime | None


class Redemption:
    """Redeems a code like the token endpoint, on behalf of a client that takes no part in it."""

    def __init__(
        self,
        records: RecordStore,
        hasher: SecretHasher,
        *,
        grant: Grant,
        people: People,
        continuation: Continuation,
        randomness: Randomness,
    ) -> None:
        self._sessions = records.of(FORWARD_SESSIONS)
        self._hasher = hasher
        self._grant = grant
        self._people = people
        self._continuation = continuation
        self._randomness = randomness

    async def redeem(
        self, tenant: Tenant, client: Client, code: str, *, redirect_uri: str, nonce: str, code_verifier: str
    ) -> SignedIn:
        """Raises InvalidGrant for an invalid code, or for a code of another request."""
        asked = TokenRequest(
            tenant=tenant,
            grant_type=GrantType.AUTHORIZATION_CODE,
            credentials=ClientCredentials(AuthenticationMethod.NONE, client.client_id),
            code=code,
            redirect_uri=redirect_uri,
            code_verifier=code_verifier,
        )
        authorization = await self._grant.authorize(asked, client)
        if not hmac.compare_digest(authorization.nonce, nonce):
            raise InvalidGrant("the code belongs to another request")
        authentication = authorization.authentication
        if authentication is not None and authentication.impersonator is not None:
            # The headers to a service do not name the support person.
            raise InvalidGrant("a support person acts as the user")
        return await self._begin(tenant, client, await self._settled(tenant, client, authorization))

    async def _settled(self, tenant: Tenant, client: Client, authorization: Authorization) -> TokenSet:
        order = Order(
            tenant=tenant,
            # There is no client that could store a refresh token.
            client=replace(client, grant_types=frozenset({GrantType.AUTHORIZATION_CODE})),
            authorization=authorization,
            user=await self._people.behind(authorization, tenant, client=client),
            oauth_scopes=authorization.oauth_scopes.given,
            resources=(),
            authorization_details=(),
            audience="",
            dpop_jkt="",
            certificate="",
            is_narrowed=False,
        )
        family = await self._continuation.settle(order)
        if family is None:
            raise InvalidGrant("the code belongs to no user")
        return family.token_set

    async def _begin(self, tenant: Tenant, client: Client, token_set: TokenSet) -> SignedIn:
        signed_in = SignedIn(
            cookie=self._randomness.alphanumeric(_COOKIE_LENGTH),
            csrf_token=self._randomness.alphanumeric(_CSRF_TOKEN_LENGTH),
            expires_at=token_set.expires_at,
        )
        await self._sessions.insert(
            ForwardSession(
                tenant_id=tenant.tenant_id,
                id=self._hasher.hash(signed_in.cookie).hex(),
                expires_at=token_set.expires_at,
                client_id=client.client_id,
                token_set_id=token_set.id,
                csrf_token=hashed(self._hasher, signed_in.csrf_token),
            )
        )
        return signed_in
