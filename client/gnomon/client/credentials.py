"""Access tokens by client credentials (RFC 6749 §4.4), renewed before they expire.

At most one renewal runs at a time; calls that need a token meanwhile wait for it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from gnomon.client.errors import RequestFailed
from gnomon.identity.v1 import token_service_pb2 as pb

# A token is renewed after this part of its life.
_RENEWAL = 0.8


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """A client of the identity provider. `tenant_id` names the tenant of the issuer; empty means the default tenant."""

    client_id: str
    client_secret: str = field(repr=False)
    tenant_id: str = ""
    oauth_scope: str = ""

    def request(self) -> pb.IssueTokenRequest:
        return pb.IssueTokenRequest(
            tenant_id=self.tenant_id,
            grant_type="client_credentials",
            client_id=self.client_id,
            client_secret=self.client_secret,
            client_authentication=pb.CLIENT_AUTHENTICATION_SECRET_POST,
            scope=self.oauth_scope,
        )


class AccessTokens(Protocol):
    """Source of access tokens."""

    async def current(self) -> str:
        """A token that is valid now."""

    def reject(self, token: str) -> bool:
        """Drop a token that the server refused; returns whether another token can be obtained."""


class ReadyToken:
    """A token that the caller already has; it is not renewed."""

    def __init__(self, token: str) -> None:
        self._token = token

    async def current(self) -> str:
        return self._token

    def reject(self, token: str) -> bool:  # noqa: ARG002  # the protocol's signature
        return False


class IssuedTokens:
    """Tokens that the issuer gives for client credentials. Times are seconds of `now`, a monotonic clock."""

    def __init__(
        self, issue: Callable[[], Awaitable[pb.IssueTokenResponse]], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._issue = issue
        self._now = now
        self._renewal = asyncio.Lock()
        self._token = ""
        self._renewed_at = 0.0
        self._ends_at = 0.0

    async def current(self) -> str:
        if self._token and self._now() < self._renewed_at:
            return self._token
        async with self._renewal:
            if not self._token or self._now() >= self._renewed_at:
                await self._renew()
            return self._token

    def reject(self, token: str) -> bool:
        if token == self._token:
            self._token = ""
        return True

    async def _renew(self) -> None:
        asked_at = self._now()
        try:
            answer = await self._issue()
        except RequestFailed:
            if self._token and self._now() < self._ends_at:
                return
            raise
        self._token = answer.access_token
        self._renewed_at = asked_at + answer.expires_in * _RENEWAL
        self._ends_at = asked_at + answer.expires_in
