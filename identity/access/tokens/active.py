"""Look-up of valid access tokens, with the present state of client and user.

The signature proves the state at issuance only. Here a token also ends with its token set, its user and its client. This
check is the only one: introspection, userinfo, the administration API and the process API ask it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from identity.access.sessions.sessions import is_refused_to_support
from identity.access.tokens.claims_of_access_token import AccessTokenClaims
from identity.access.tokens.keys import KeyRing
from identity.access.tokens.revoked import RevokedTokens
from identity.access.tokens.token_set import TokenSet
from identity.access.tokens.token_sets import TokenSets
from identity.access.tokens.verification import SKEW
from identity.access.tokens.verified_tokens import VerifiedTokens
from identity.directory.client import Client
from identity.directory.clients import Clients
from identity.directory.subjects import Subjects, UnknownSubject
from identity.directory.user import USERS, User, UserId
from identity.foundation.errors import InvalidToken
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.records import RecordStore


@dataclass(frozen=True, slots=True)
class ActiveToken:
    """`user` and `token_set` are None for a client in its own name."""

    claims: AccessTokenClaims
    client: Client
    user: User | None
    token_set: TokenSet | None

    @property
    def ids(self) -> Iterator[str]:
        """Ids of everything that the token ends with."""
        yield from filter(None, (self.claims.jti, self.claims.token_set_id, self.client.client_id))
        if self.user is not None and self.token_set is not None:
            yield from filter(None, (self.user.id, self.token_set.sid, self.token_set.device_id))

    @property
    def is_impersonated(self) -> bool:
        """Whether a support person acts as the user."""
        return self.token_set is not None and self.token_set.authentication.impersonator is not None


class ActiveTokens:
    def __init__(
        self,
        keys: KeyRing,
        clients: Clients,
        subjects: Subjects,
        *,
        sets: TokenSets,
        revoked: RevokedTokens,
        records: RecordStore,
        clock: Clock,
    ) -> None:
        self._verified = VerifiedTokens(keys)
        self._clients = clients
        self._subjects = subjects
        self._sets = sets
        self._revoked = revoked
        self._users = records.of(USERS)
        self._clock = clock

    async def find(self, token: str, tenant: Tenant) -> ActiveToken:
        """Return a valid access token of the tenant's provider; raises InvalidToken."""
        return await self.check(await self._verified.claims(token, tenant), tenant)

    async def check(self, claims: AccessTokenClaims, tenant: Tenant) -> ActiveToken:
        """Return the access token with these claims, whose signature the caller verified; raises InvalidToken."""
        now, skew = self._clock.now().timestamp(), SKEW.total_seconds()
        if not claims.nbf - skew <= now < claims.exp + skew:
            raise InvalidToken("the token is expired")
        client = await self._clients.find(tenant, claims.azp)
        if client is None or not client.is_enabled or await self._revoked.has(tenant, claims.jti):
            raise InvalidToken("the token was revoked")
        if not claims.token_set_id:
            if tenant.not_before is not None or client.not_before is not None:
                _expect_issued_since(claims, tenant.not_before, client.not_before)
            return ActiveToken(claims, client, None, None)
        token_set = await self._sets.find(tenant, claims.token_set_id)
        user = await self._users.get(tenant.tenant_id, self._user_id(tenant, client, claims.sub))
        if token_set is None or user is None or not user.is_active(self._clock.now()):
            raise InvalidToken("the token was revoked")
        if token_set.authentication.is_refused_by_user(user.not_before) or token_set.is_refused_to(client):
            raise InvalidToken("the token was revoked")
        if await is_refused_to_support(self._users, tenant, token_set.authentication):
            raise InvalidToken("the token was revoked")
        return ActiveToken(claims, client, user, token_set)

    def _user_id(self, tenant: Tenant, client: Client, subject: str) -> UserId:
        try:
            return self._subjects.user_of(tenant, client, subject)
        except UnknownSubject as error:
            # The client's type of subjects or its sector has changed.
            raise InvalidToken("the token was revoked") from error


def _expect_issued_since(claims: AccessTokenClaims, *not_before: datetime | None) -> None:
    """Raise InvalidToken for a token in the client's own name from before one of these times."""
    issued_at = datetime.fromtimestamp(claims.iat, UTC)
    if any(each is not None and issued_at < each for each in not_before):
        raise InvalidToken("the token was revoked")
