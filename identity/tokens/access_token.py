"""Access tokens: signed, short-lived, verified by whoever holds the published keys."""

from dataclasses import dataclass, field
from datetime import timedelta

import msgspec

from identity.clients.client import Client
from identity.errors import InvalidRequest
from identity.key_ring import KeyRing
from identity.randomness import Randomness
from identity.tenants import Tenant, Tenants
from server.platform.call import TenantId
from server.platform.clock import Clock

_JTI_LENGTH = 12

# What every receiver of ours accepts at most.
_MAX_LENGTH = 4096


class AccessTokenClaims(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """RFC 7519 §4.1, RFC 8693 §4.2; `azp` is the client, `tid` the one tenant that the token is bound to."""

    iss: str
    sub: str
    aud: str | tuple[str, ...]
    azp: str
    iat: int
    nbf: int
    exp: int
    jti: str
    typ: str
    scope: str = ""
    tid: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grantee:
    """Who gets a token from which provider, for what and for whom to accept."""

    tenant: Tenant
    client: Client
    subject: str
    oauth_scopes: tuple[str, ...]
    audience: str = ""


@dataclass(frozen=True, slots=True)
class AccessToken:
    token: str = field(repr=False)
    lifetime: timedelta
    oauth_scopes: tuple[str, ...]


class AccessTokens:
    def __init__(self, keys: KeyRing, tenants: Tenants, clock: Clock, randomness: Randomness) -> None:
        self._keys = keys
        self._tenants = tenants
        self._clock = clock
        self._randomness = randomness

    async def issue(self, grantee: Grantee) -> AccessToken:
        """Sign a token; raises InvalidRequest when what was asked for makes it too long."""
        key_set = await self._keys.key_set(grantee.tenant.tenant_id)
        signing_key = key_set.signing_key(grantee.client.access_token_signed_response_alg)
        token = signing_key.sign(msgspec.json.encode(self._claims(grantee)))
        if len(token) > _MAX_LENGTH:
            raise InvalidRequest(f"the token would be longer than {_MAX_LENGTH} characters")
        return AccessToken(token, grantee.client.access_token_lifetime, grantee.oauth_scopes)

    def _claims(self, grantee: Grantee) -> AccessTokenClaims:
        issued_at = int(self._clock.now().timestamp())
        return AccessTokenClaims(
            iss=grantee.tenant.issuer,
            sub=grantee.subject,
            aud=_audience(grantee),
            azp=grantee.client.client_id,
            iat=issued_at,
            nbf=issued_at,
            exp=issued_at + int(grantee.client.access_token_lifetime.total_seconds()),
            jti=self._randomness.alphanumeric(_JTI_LENGTH),
            typ="Bearer",
            scope=" ".join(grantee.oauth_scopes),
            tid=self._bound_tenant(grantee) or "",
        )

    def _bound_tenant(self, grantee: Grantee) -> TenantId | None:
        if grantee.tenant != self._tenants.default:
            return grantee.tenant.tenant_id
        tenant_ids = grantee.client.tenant_ids
        return tenant_ids[0] if len(tenant_ids) == 1 else None


def _audience(grantee: Grantee) -> str | tuple[str, ...]:
    audience = (grantee.client.client_id, grantee.audience)
    return audience if grantee.audience and audience[0] != audience[1] else audience[0]
