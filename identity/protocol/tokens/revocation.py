"""Token revocation: RFC 7009.

An unknown or expired token, and one of another client, count as revoked, without any effect.
"""

from datetime import UTC, datetime

from identity.access.client_authentication.authenticator import ClientAuthenticator, ClientCredentials
from identity.access.tokens.families import Families
from identity.access.tokens.keys import KeyRing
from identity.access.tokens.revoked import RevokedTokens
from identity.access.tokens.verification import SKEW, verified
from identity.directory.client import Client
from identity.foundation.errors import InvalidRequest, InvalidToken, UnsupportedTokenType
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import TokenType
from server.platform.clock import Clock


class Revocation:
    def __init__(
        self,
        authenticator: ClientAuthenticator,
        families: Families,
        *,
        keys: KeyRing,
        revoked: RevokedTokens,
        clock: Clock,
    ) -> None:
        self._authenticator = authenticator
        self._families = families
        self._keys = keys
        self._revoked = revoked
        self._clock = clock

    async def revoke(self, tenant: Tenant, credentials: ClientCredentials, *, token: str) -> None:
        """Revoke a token of the client, of either kind; `token_type_hint` is not needed.

        Raises InvalidClient, InvalidRequest, UnsupportedTokenType.
        """
        client = await self._authenticator.authenticate(credentials, tenant)
        if not token:
            raise InvalidRequest("token is missing")
        if not await self._families.end(tenant, client, token=token):
            await self._revoke_access_token(tenant, client, token)

    async def _revoke_access_token(self, tenant: Tenant, client: Client, token: str) -> None:
        try:
            claims = await verified(token, tenant, self._keys)
        except InvalidToken:
            return
        if claims.get("typ") not in set(TokenType):
            raise UnsupportedTokenType("tokens of this type cannot be revoked")
        until = datetime.fromtimestamp(float(str(claims.get("exp", 0))), UTC) + SKEW
        if claims.get("azp") == client.client_id and self._clock.now() < until:
            await self._revoked.add(tenant, str(claims.get("jti")), until=until)
