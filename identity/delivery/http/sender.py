"""Posts messages to permitted destinations."""

from collections.abc import Mapping
from typing import Protocol, Self

from aiohttp import ClientError, InvalidURL
from yarl import URL

from identity.delivery.http.destinations import Destinations
from identity.delivery.http.sessions import guarded_session

TIMEOUT_SECS = 10


class Sender(Protocol):
    async def post(self, url: str, body: bytes, headers: Mapping[str, str], /) -> int:
        """Return the HTTP status, 0 without a response."""
        ...


class HttpSender:
    """Follows no redirects, keeps no cookies and reads no body.

    Callers bound the number of messages at a time: no message waits for connections of slow receivers.
    """

    def __init__(self, destinations: Destinations) -> None:
        self._destinations = destinations
        self._session = guarded_session(TIMEOUT_SECS, destinations.is_refused, connections=0)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def post(self, url: str, body: bytes, headers: Mapping[str, str], /) -> int:
        return await self._send("POST", url, body, headers)

    async def put(self, url: str, body: bytes, headers: Mapping[str, str], /) -> int:
        """Return the HTTP status, 0 without a response."""
        return await self._send("PUT", url, body, headers)

    async def _send(self, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> int:
        # A literal address is not checked by the resolver.
        if not is_permitted(url, self._destinations):
            return 0
        sent = {**headers, "Content-Type": "application/json"}
        try:
            async with self._session.request(
                method, url, data=body, headers=sent, allow_redirects=False
            ) as response:
                return response.status
        except (ClientError, OSError, TimeoutError):
            return 0


def is_permitted(url: str, destinations: Destinations) -> bool:
    """Whether messages may go to the address; names are checked when they are resolved."""
    try:
        parts = URL(url)
    except (ValueError, InvalidURL):
        return False
    return (
        parts.scheme in {"https", "http"}
        and bool(parts.host)
        and not destinations.is_refused(parts.host or "")
    )
