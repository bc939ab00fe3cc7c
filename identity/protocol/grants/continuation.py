"""Begins or continues the token set of a grant.

A token set is stored before the code or refresh token is used up, so that a replay always finds the set to revoke.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from identity.access.sessions.session import Authentication
from identity.access.tokens.families import Families, Family
from identity.access.tokens.token_set import TokenSet
from identity.access.tokens.token_sets import TokenSets
from identity.directory.authorization_details.details import Details
from identity.directory.client import Client
from identity.directory.user import User
from identity.foundation.errors import InvalidGrant
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import GrantType, Scope
from identity.protocol.grants.grant import Authorization
from server.platform.clock import Clock

_ID_LENGTH = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A token request whose parts are all validated.

    The tokens are bound to the key `dpop_jkt` and to the certificate with the thumbprint `certificate`; an empty one binds
    to nothing. `is_narrowed` is true when a client asked for certain scopes of a token in its own name.
    """

    tenant: Tenant
    client: Client
    authorization: Authorization
    user: User | None
    oauth_scopes: tuple[str, ...]
    resources: tuple[str, ...]
    authorization_details: Details
    audience: str
    dpop_jkt: str
    certificate: str
    is_narrowed: bool


class Sessions(Protocol):
    async def is_signed_in(self, tenant: Tenant, sid: str) -> bool: ...


class Continuation:
    def __init__(
        self,
        sets: TokenSets,
        families: Families,
        *,
        sessions: Sessions,
        clock: Clock,
        randomness: Randomness,
    ) -> None:
        self._sets = sets
        self._sessions = sessions
        self._families = families
        self._clock = clock
        self._randomness = randomness

    async def settle(self, order: Order) -> Family | None:
        """Redeem the code or token; None without a token set. Raises InvalidGrant when another request redeemed it."""
        authorization = order.authorization
        if authorization.authentication is None:
            await authorization.redeem("")
            return None
        if authorization.joined is not None:
            return Family(authorization.joined)
        if authorization.refresh_token:
            return await self._families.rotate(
                order.tenant, order.client, token=authorization.refresh_token, dpop_jkt=order.dpop_jkt
            )
        family = await self._begin(order, authorization.authentication)
        try:
            await self._expect_support(order.tenant, authorization.authentication)
            await authorization.redeem(family.token_set.id)
        except InvalidGrant:
            await self._sets.remove(order.tenant, family.token_set.id)
            raise
        return family

    async def _expect_support(self, tenant: Tenant, authentication: Authentication) -> None:
        """Raise InvalidGrant if the session of a support person has ended.

        The token set is stored before: either this sees that the session has ended, or its end removes the token set.
        """
        is_impersonated = authentication.impersonator is not None
        if is_impersonated and not await self._sessions.is_signed_in(tenant, authentication.sid):
            raise InvalidGrant("the session has ended")

    async def _begin(self, order: Order, authentication: Authentication) -> Family:
        if _has_refresh_tokens(order):
            return await self._families.open(self._draft(order, authentication))
        return Family(await self._sets.keep(self._draft(order, authentication)))

    def _draft(self, order: Order, authentication: Authentication) -> TokenSet:
        authorization = order.authorization
        impersonator = authentication.impersonator
        last = impersonator.ends_at if impersonator is not None else datetime.max.replace(tzinfo=UTC)
        access_tokens_end_at = min(self._clock.now() + order.client.access_token_lifetime, last)
        is_device = bool(authorization.device_id)
        outlives_session = is_device or Scope.OFFLINE_ACCESS in order.oauth_scopes
        return TokenSet(
            tenant_id=order.tenant.tenant_id,
            id=self._randomness.alphanumeric(_ID_LENGTH),
            expires_at=access_tokens_end_at,
            client_id=order.client.client_id,
            authentication=authentication,
            oauth_scopes=order.oauth_scopes,
            user_id=authentication.user_id,
            ends_at=min(self._families.ends_at(is_device=is_device), last)
            if _has_refresh_tokens(order)
            else access_tokens_end_at,
            sid="" if outlives_session else authentication.sid,
            device_id=authorization.device_id,
            resources=order.resources,
            # A narrowed request concerns one access token: RFC 9396 §6.
            authorization_details=authorization.authorization_details.given,
            claims=authorization.claims,
            dpop_jkt=order.dpop_jkt,
            begun_at=self._clock.now(),
        )


def _has_refresh_tokens(order: Order) -> bool:
    return order.authorization.is_renewable and GrantType.REFRESH_TOKEN in order.client.grant_types
