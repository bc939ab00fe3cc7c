"""Posts logout tokens to relying parties: OpenID Connect Back-Channel Logout 1.0 §2.5."""

from collections.abc import Callable
from typing import Protocol, Self

from aiohttp import ClientError, InvalidURL
from yarl import URL

from identity.delivery.http.destinations import Destinations, is_never
from identity.delivery.http.sessions import guarded_session

_DELIVERED = frozenset({200, 204})
_SCHEMES = frozenset({"http", "https"})


class Delivery(Protocol):
    async def deliver(self, uri: str, logout_token: str) -> bool:
        """Whether the relying party accepted the token."""
        ...


class HttpDelivery:
    """Follows no redirects, keeps no cookies and reads no body; configured addresses may be private."""

    def __init__(self, destinations: Destinations, timeout_secs: int) -> None:
        self._destinations = destinations
        self._session = guarded_session(timeout_secs, destinations.is_refused)
        self._configured_session = guarded_session(timeout_secs, is_never)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()
        await self._configured_session.close()

    async def deliver(self, uri: str, logout_token: str) -> bool:
        is_configured = uri in self._destinations.configured
        # A literal address is not checked by the resolver.
        if not _is_allowed(uri, is_never if is_configured else self._destinations.is_refused):
            return False
        form = {"logout_token": logout_token}
        session = self._configured_session if is_configured else self._session
        try:
            async with session.post(uri, data=form, allow_redirects=False) as response:
                return response.status in _DELIVERED
        except (ClientError, OSError, TimeoutError):
            return False


def _is_allowed(uri: str, is_refused: Callable[[str], bool]) -> bool:
    try:
        url = URL(uri)
    except (ValueError, InvalidURL):
        return False
    return url.scheme in _SCHEMES and bool(url.host) and not is_refused(url.host or "")
