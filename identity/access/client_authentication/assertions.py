"""Client authentication by signed assertion: RFC 7523 §3, OpenID Connect Core 1.0 §9 `private_key_jwt`."""

from datetime import UTC, datetime, timedelta

from identity.access.client_authentication.client_keys import ClientKeys
from identity.access.client_authentication.config import ISSUER_ALONE, ClientAuthenticationConfig
from identity.crypto.signed_jwt import MalformedJwt, SignedJwt, algorithms_of, parse
from identity.directory.client import Client
from identity.foundation.single_use import SingleUse
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock

_MAX_LIFETIME = timedelta(minutes=10)
_SKEW = timedelta(seconds=5)
# FAPI 2.0 Security Profile §5.3.2.1: clocks of clients may be ten seconds ahead.
_EARLIEST = timedelta(seconds=10)
_MAX_JTI_LENGTH = 256


class ClientAssertions:
    def __init__(
        self,
        keys: ClientKeys,
        single_use: SingleUse,
        clock: Clock,
        *,
        config: ClientAuthenticationConfig = ISSUER_ALONE,
    ) -> None:
        self._keys = keys
        self._single_use = single_use
        self._clock = clock
        self._config = config

    def subject(self, assertion: str) -> str:
        """Return the subject of an assertion, which is not verified yet; empty for a malformed one."""
        try:
            return parse(assertion).text("sub")
        except MalformedJwt:
            return ""

    async def holds(self, assertion: str, client: Client, *, tenant: Tenant) -> bool:
        """Whether the client signed the assertion for this provider, and it is valid and not used before."""
        try:
            jwt = parse(assertion)
        except MalformedJwt:
            return False
        expires_at = self._expiry(jwt)
        if expires_at is None or not self._is_for(jwt, client, tenant) or not _is_its_own(jwt, client):
            return False
        if not await self._is_signed(jwt, client):
            return False
        jti = f"{client.client_id} {jwt.text('jti')}"
        return await self._single_use.spend(tenant, "client assertion", jti, until=expires_at)

    def _expiry(self, jwt: SignedJwt) -> datetime | None:
        """Return the time after which the assertion is not accepted; None when it is over or too far away."""
        seconds, now = jwt.time("exp"), self._clock.now()
        latest = now + _MAX_LIFETIME + _SKEW
        if seconds is None or not (now - _SKEW).timestamp() < seconds <= latest.timestamp():
            return None
        if not jwt.has_begun((now + _EARLIEST).timestamp()):
            return None
        return datetime.fromtimestamp(seconds, UTC) + _SKEW

    def _is_for(self, jwt: SignedJwt, client: Client, tenant: Tenant) -> bool:
        audience = jwt.claims.get("aud")
        if client.follows_fapi:
            # FAPI 2.0 Security Profile §5.3.2.1: the issuer, as a string.
            return audience == tenant.issuer
        # CIBA Core 1.0 §7.1 names the second one.
        endpoints = (f"{tenant.issuer}oidc/token", f"{tenant.issuer}oidc/bc-authorize")
        return self._config.accepts(audience, tenant.issuer, endpoints=endpoints)

    async def _is_signed(self, jwt: SignedJwt, client: Client) -> bool:
        keys = await self._keys.of(client, kid=str(jwt.header.get("kid", "")))
        algorithms = algorithms_of(client.token_endpoint_auth_signing_alg, among=client.accepted_algorithms)
        return any(jwt.is_signed_by(key, algorithms) for key in keys)


def _is_its_own(jwt: SignedJwt, client: Client) -> bool:
    is_its_own = jwt.text("iss") == jwt.text("sub") == client.client_id
    return is_its_own and 0 < len(jwt.text("jti")) <= _MAX_JTI_LENGTH
