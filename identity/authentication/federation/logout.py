"""Back-channel logout endpoint for upstream providers: OpenID Connect Back-Channel Logout 1.0 §2.6.

Only sessions that began with a sign-in at the provider end. The error is the same for every invalid token.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol

from identity.access.sessions.session import Session
from identity.access.sessions.sessions import Sessions
from identity.authentication.federation.id_token import is_name
from identity.crypto.signed_jwt import CLIENT_ALGORITHMS, MalformedJwt, SignedJwt, parse
from identity.delivery.http.published_keys import PublishedKeys
from identity.directory.provider import Provider
from identity.directory.providers import Providers
from identity.foundation.errors import InvalidRequest
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.single_use import SingleUse
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock

EVENT = "http://schemas.openid.net/event/backchannel-logout"

_TYPES = frozenset({"", "jwt", "logout+jwt"})
_SKEW = timedelta(seconds=5)
_MAX_LIFETIME = timedelta(seconds=120)


class SessionTermination(Protocol):
    async def end(self, tenant: Tenant, session: Session) -> None: ...


class UpstreamLogout:
    def __init__(
        self,
        providers: Providers,
        keys: PublishedKeys,
        *,
        single_use: SingleUse,
        sessions: Sessions,
        termination: SessionTermination,
        events: Events,
        clock: Clock,
    ) -> None:
        self._providers = providers
        self._keys = keys
        self._single_use = single_use
        self._sessions = sessions
        self._termination = termination
        self._events = events
        self._clock = clock

    async def receive(self, tenant: Tenant, logout_token: str) -> None:
        """End the sessions that the token names; raises InvalidRequest for an invalid token or one used before."""
        try:
            jwt = parse(logout_token)
        except MalformedJwt as error:
            raise _refused() from error
        if not (self._is_of_now(jwt) and _is_logout_token(jwt)):
            raise _refused()
        telling = [
            provider
            for provider in await self._makers(tenant, jwt)
            if await self._is_first(tenant, provider, jwt)
        ]
        if not telling:
            raise _refused()
        for provider in telling:
            await self._end(tenant, provider, jwt)

    async def _end(self, tenant: Tenant, provider: Provider, jwt: SignedJwt) -> None:
        sub, sid = jwt.text("sub"), jwt.text("sid")
        for session in await self._sessions.vouched_for(tenant, provider.id, sub=sub, sid=sid):
            await self._termination.end(tenant, session)
            await self._events.emit(
                tenant.tenant_id,
                EventType.FORCED_LOGOUT,
                text=f"provider {provider.fields.name}",
                user_id=session.user_id,
            )

    def _is_of_now(self, jwt: SignedJwt) -> bool:
        issued, expires, now = jwt.time("iat"), jwt.time("exp"), self._clock.now()
        if issued is None or expires is None:
            return False
        is_now = jwt.has_begun((now + _SKEW).timestamp()) and (now - _SKEW).timestamp() < expires
        return is_now and 0 <= expires - issued <= _MAX_LIFETIME.total_seconds()

    async def _makers(self, tenant: Tenant, jwt: SignedJwt) -> Sequence[Provider]:
        """Return the providers with this issuer, client id and key; disabled ones too, for older sessions."""
        providers = [provider for provider in await self._providers.all(tenant) if _is_for_us(jwt, provider)]
        return [provider for provider in providers if await self._is_signed(jwt, provider)]

    async def _is_signed(self, jwt: SignedJwt, provider: Provider) -> bool:
        kid, uri = jwt.header.get("kid"), provider.fields.jwks_endpoint
        if not isinstance(kid, str) or not kid or not uri:
            return False
        return any(jwt.is_signed_by(key, CLIENT_ALGORITHMS) for key in await self._keys.at(uri, kid=kid))

    async def _is_first(self, tenant: Tenant, provider: Provider, jwt: SignedJwt) -> bool:
        until = datetime.fromtimestamp(jwt.time("exp") or 0, UTC) + _SKEW
        jti = f"{provider.id} {jwt.text('jti')}"
        return await self._single_use.spend(tenant, "logout token", jti, until=until)


def _is_logout_token(jwt: SignedJwt) -> bool:
    typ, events = jwt.header.get("typ", ""), jwt.claims.get("events")
    if not isinstance(typ, str) or typ.lower() not in _TYPES:
        return False
    if not isinstance(events, dict) or not isinstance(events.get(EVENT), dict):
        return False
    # An ID token may have a nonce, a logout token must not.
    return "nonce" not in jwt.claims and _is_named(jwt)


def _is_named(jwt: SignedJwt) -> bool:
    """Whether the token has a `jti`, and a `sub` or a `sid`."""
    names = [jwt.claims[name] for name in ("sub", "sid") if name in jwt.claims]
    return bool(names) and all(map(is_name, (jwt.claims.get("jti"), *names)))


def _is_for_us(jwt: SignedJwt, provider: Provider) -> bool:
    audience = jwt.claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    return jwt.text("iss") == provider.fields.issuer and provider.fields.client_id in audiences


def _refused() -> InvalidRequest:
    return InvalidRequest("the logout token is invalid")
