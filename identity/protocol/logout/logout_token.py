"""Logout tokens: OpenID Connect Back-Channel Logout 1.0 §2.4."""

from collections.abc import Mapping
from datetime import timedelta

import msgspec

from identity.access.sessions.logout_records import BackChannelLogout
from identity.access.tokens.keys import KeyRing
from identity.directory.client import Client
from identity.directory.subjects import Subjects
from identity.directory.user import UserId
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock

_JTI_LENGTH = 32
_LIFETIME = timedelta(seconds=30)
_EVENT = "http://schemas.openid.net/event/backchannel-logout"
_TYP = "logout+jwt"


class LogoutTokenClaims(msgspec.Struct, frozen=True, kw_only=True):
    """Claims of a logout token; it has no nonce, so that no client accepts it as an ID token."""

    iss: str
    sub: str
    aud: str
    iat: int
    exp: int
    jti: str
    sid: str
    events: Mapping[str, Mapping[str, str]]


class LogoutTokens:
    def __init__(self, keys: KeyRing, subjects: Subjects, *, clock: Clock, randomness: Randomness) -> None:
        self._keys = keys
        self._subjects = subjects
        self._clock = clock
        self._randomness = randomness

    async def issue(self, tenant: Tenant, client: Client, logout: BackChannelLogout) -> str:
        """Sign with the key of the client's ID tokens."""
        key_set = await self._keys.key_set(tenant.tenant_id)
        now = self._clock.now()
        claims = LogoutTokenClaims(
            iss=tenant.issuer,
            sub=self._subjects.of(tenant, client, UserId(logout.user_id)),
            aud=client.client_id,
            iat=int(now.timestamp()),
            exp=int((now + _LIFETIME).timestamp()),
            jti=self._randomness.alphanumeric(_JTI_LENGTH),
            sid=self._subjects.session_of(tenant, client, logout.sid),
            events={_EVENT: {}},
        )
        signing_key = key_set.signing_key(client.id_token_signed_response_alg)
        return signing_key.sign(msgspec.json.encode(claims), typ=_TYP)
