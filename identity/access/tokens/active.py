"""Look-up of valid access tokens, with the present state of client and user.

The signature proves the state at issuance only. Here a token also ends with its token set, its user and its client.
"""

from dataclasses import dataclass

import msgspec

from identity.access.tokens.actor import Actor
from identity.access.tokens.keys import KeyRing
from identity.access.tokens.revoked import RevokedTokens
from identity.access.tokens.token_ids import token_set_id_of
from identity.access.tokens.token_set import TokenSet
from identity.access.tokens.token_sets import TokenSets
from identity.access.tokens.verification import SKEW, verified
from identity.directory.client import Client
from identity.directory.clients import Clients
from identity.directory.subjects import Subjects, UnknownSubject
from identity.directory.user import USERS, User, UserId
from identity.foundation.errors import InvalidToken
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import TokenType
from server.platform.clock import Clock
from server.platform.records import RecordStore


class Confirmation(msgspec.Struct, frozen=True):
    """Key and certificate that a token is bound to, each empty for none: RFC 9449 §6.1, RFC 8705 §3.1."""

    jkt: str = ""
    certificate: str = msgspec.field(default="", name="x5t#S256")


class AccessTokenClaims(msgspec.Struct, frozen=True):
    """Claims of our access tokens; a token that lacks a required one, or has another type, is invalid."""

    iss: str
    sub: str
    aud: str | tuple[str, ...]
    azp: str
    iat: int
    nbf: int
    exp: int
    jti: str
    typ: TokenType
    scope: str = ""
    sid: str = ""
    did: str = ""
    # Tokens of earlier versions, which are valid for a day at most, have it.
    set_id: str = ""
    cnf: Confirmation = Confirmation()
    act: Actor | None = None

    @property
    def oauth_scopes(self) -> frozenset[str]:
        return frozenset(self.scope.split())

    @property
    def is_bearer(self) -> bool:
        """Whether the token counts without any proof."""
        return self.typ is TokenType.BEARER and not self.cnf.certificate

    @property
    def token_set_id(self) -> str:
        """Id of the token set, empty for a client in its own name."""
        return self.set_id or token_set_id_of(self.jti)


@dataclass(frozen=True, slots=True)
class ActiveToken:
    """`user` and `token_set` are None for a client in its own name."""

    claims: AccessTokenClaims
    client: Client
    user: User | None
    token_set: TokenSet | None


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
        self._keys = keys
        self._clients = clients
        self._subjects = subjects
        self._sets = sets
        self._revoked = revoked
        self._users = records.of(USERS)
        self._clock = clock

    async def find(self, token: str, tenant: Tenant) -> ActiveToken:
        """Return a valid access token of the tenant's provider; raises InvalidToken."""
        claims = await self._claims(token, tenant)
        client = await self._clients.find(tenant, claims.azp)
        if client is None or not client.is_enabled or await self._revoked.has(tenant, claims.jti):
            raise InvalidToken("the token was revoked")
        if not claims.token_set_id:
            return ActiveToken(claims, client, None, None)
        token_set = await self._sets.find(tenant, claims.token_set_id)
        user = await self._users.get(tenant.tenant_id, self._user_id(tenant, client, claims.sub))
        if token_set is None or user is None or not user.is_active(self._clock.now()):
            raise InvalidToken("the token was revoked")
        return ActiveToken(claims, client, user, token_set)

    def _user_id(self, tenant: Tenant, client: Client, subject: str) -> UserId:
        try:
            return self._subjects.user_of(tenant, client, subject)
        except UnknownSubject as error:
            # The client's type of subjects or its sector changed.
            raise InvalidToken("the token was revoked") from error

    async def _claims(self, token: str, tenant: Tenant) -> AccessTokenClaims:
        found = await verified(token, tenant, self._keys)
        try:
            claims = msgspec.convert(found, AccessTokenClaims)
        except msgspec.ValidationError as error:
            raise InvalidToken("the token is no access token") from error
        now, skew = self._clock.now().timestamp(), SKEW.total_seconds()
        if not claims.nbf - skew <= now < claims.exp + skew:
            raise InvalidToken("the token is expired")
        return claims
