"""Hands logout tokens to relying parties over HTTP: OpenID Connect Back-Channel Logout 1.0 §2.5."""

from typing import Protocol, Self

from aiohttp import ClientError, InvalidURL
from yarl import URL

from identity.outgoing.destinations import is_refused
from identity.outgoing.http import guarded_session

_DELIVERED = frozenset({200, 204})
_SCHEMES = frozenset({"http", "https"})


class Delivery(Protocol):
    async def deliver(self, uri: str, logout_token: str) -> bool:
        """Whether the relying party took it."""
        ...


class HttpDelivery:
    """Follows no redirect, keeps no cookie, and reads no body."""

    def __init__(self, timeout_secs: int) -> None:
        self._session = guarded_session(timeout_secs, is_refused)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def deliver(self, uri: str, logout_token: str) -> bool:
        # An address that is written as such passes no resolver.
        if not _is_allowed(uri):
            return False
        form = {"logout_token": logout_token}
        try:
            async with self._session.post(uri, data=form, allow_redirects=False) as response:
                return response.status in _DELIVERED
        except (ClientError, OSError, TimeoutError):
            return False


def _is_allowed(uri: str) -> bool:
    try:
        url = URL(uri)
    except (ValueError, InvalidURL):
        return False
    return url.scheme in _SCHEMES and bool(url.host) and not is_refused(url.host or "")
