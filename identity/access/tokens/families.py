"""Refresh token rotation: RFC 9700 §4.14.2.

Each refresh token is valid once. A second use within the grace period comes from a client that did not get the
response. A later one indicates theft: then the whole token set is revoked.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Protocol

from identity.access.tokens.config import DeviceGrantConfig, TokenConfig
from identity.access.tokens.refresh_token import RefreshTokens
from identity.access.tokens.token_set import TokenSet
from identity.access.tokens.token_sets import TokenSets
from identity.directory.client import Client
from identity.foundation.errors import InvalidGrant
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import Unavailable
from server.platform.records import Changed

_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Family:
    """A token set with its present refresh token, which is empty when it has none."""

    token_set: TokenSet
    refresh_token: str = field(default="", repr=False)


class ReuseReport(Protocol):
    """Reports the reuse of a replaced refresh token; its token set is revoked already."""

    async def __call__(self, tenant: Tenant, token_set: TokenSet, /) -> None: ...


class Families:
    def __init__(
        self,
        sets: TokenSets,
        tokens: RefreshTokens,
        *,
        token: TokenConfig,
        device_grant: DeviceGrantConfig,
        report_reuse: ReuseReport,
        clock: Clock,
    ) -> None:
        self._sets = sets
        self._tokens = tokens
        self._token = token
        self._device_grant = device_grant
        self._report_reuse = report_reuse
        self._clock = clock

    def ends_at(self, *, is_device: bool) -> datetime:
        """Return the time when a token set that begins now ends at the latest."""
        config = self._device_grant if is_device else self._token
        return self._clock.now() + timedelta(days=config.refresh_family_lifetime_days)

    async def open(self, token_set: TokenSet) -> Family:
        """Begin a token set with a refresh token."""
        token = self._tokens.first(token_set.id)
        draft = replace(
            token_set, refresh_token_hash=self._tokens.hash(token), expires_at=self._expiry(token_set)
        )
        return Family(await self._sets.keep(draft), token)

    async def present(self, tenant: Tenant, client: Client, *, token: str) -> TokenSet:
        """Return the token set of a refresh token; raises InvalidGrant.

        A token of another client has no effect. A replaced token revokes its token set.
        """
        token_set = await self._named(tenant, client, token)
        if token_set is None:
            raise InvalidGrant("the refresh token is unknown, expired or revoked")
        if not self._is_current(token_set, token) and not self._is_repeated(token_set, token):
            await self._sets.remove(tenant, token_set.id)
            await self._report_reuse(tenant, token_set)
            raise InvalidGrant("the refresh token is unknown, expired or revoked")
        return token_set

    async def look(self, tenant: Tenant, client: Client, *, token: str) -> TokenSet | None:
        """Return the client's token set if the refresh token is its present one, else None; it is not used up."""
        token_set = await self._named(tenant, client, token)
        return token_set if token_set and self._is_current(token_set, token) else None

    async def end(self, tenant: Tenant, client: Client, *, token: str) -> bool:
        """Revoke the client's token set of a refresh token; False when there is none."""
        token_set = await self._named(tenant, client, token)
        if token_set is None:
            return False
        await self._sets.remove(tenant, token_set.id)
        return True

    async def rotate(self, tenant: Tenant, client: Client, *, token: str, dpop_jkt: str) -> Family:
        """Replace the refresh token; of concurrent callers one writes, and all get the same successor.

        A client of the FAPI profile keeps its token, which is bound to it: FAPI 2.0 Security Profile §5.3.2.1.
        """
        following = self._tokens.following(token)
        for _ in range(_ATTEMPTS):
            token_set = await self.present(tenant, client, token=token)
            if not self._is_current(token_set, token):
                return Family(token_set, following)
            try:
                if client.follows_fapi:
                    kept = replace(token_set, expires_at=self._expiry(token_set), dpop_jkt=dpop_jkt)
                    return Family(await self._sets.renew(kept), token)
                return Family(await self._sets.renew(self._rotated(token_set, token, dpop_jkt)), following)
            except Changed:
                continue
        raise Unavailable.untouched("too many use the refresh token at once")

    async def _named(self, tenant: Tenant, client: Client, token: str) -> TokenSet | None:
        token_set_id = self._tokens.token_set_id(token)
        token_set = await self._sets.find(tenant, token_set_id) if token_set_id else None
        if token_set is None or token_set.client_id != client.client_id or token_set.is_refused_to(client):
            return None
        return token_set

    def _rotated(self, token_set: TokenSet, token: str, dpop_jkt: str) -> TokenSet:
        return replace(
            token_set,
            refresh_token_hash=self._tokens.hash(self._tokens.following(token)),
            previous_refresh_token_hash=self._tokens.hash(token),
            previous_until=self._clock.now() + timedelta(seconds=self._token.refresh_grace_secs),
            expires_at=self._expiry(token_set),
            dpop_jkt=dpop_jkt,
        )

    def _is_current(self, token_set: TokenSet, token: str) -> bool:
        return self._tokens.is_hashed(token, token_set.refresh_token_hash)

    def _is_repeated(self, token_set: TokenSet, token: str) -> bool:
        is_previous = self._tokens.is_hashed(token, token_set.previous_refresh_token_hash)
        return (
            is_previous
            and token_set.previous_until is not None
            and self._clock.now() < token_set.previous_until
        )

    def _expiry(self, token_set: TokenSet) -> datetime:
        hours = (
            self._device_grant.refresh_lifetime_hours
            if token_set.device_id
            else self._token.refresh_token_lifetime_hours
        )
        return min(self._clock.now() + timedelta(hours=hours), token_set.ends_at)
