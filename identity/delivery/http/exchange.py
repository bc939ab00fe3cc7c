"""Requests to other servers whose responses matter: bounded in time and size, to permitted destinations only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol, Self

from aiohttp import ClientError, ClientResponse, InvalidURL
from aiohttp.hdrs import ACCEPT_ENCODING, RETRY_AFTER
from yarl import URL

from identity.delivery.http.destinations import Destinations, is_loopback
from identity.delivery.http.sessions import guarded_session

TIMEOUT_SECS = 10
MOST_OCTETS = 65_536
_LONGEST_PAUSE_SECS = 3600


@dataclass(frozen=True, slots=True)
class Response:
    """`status` is 0 without a response; `body` is empty if it was too large. `retry_after` is at most an hour."""

    status: int
    body: bytes = field(default=b"", repr=False)
    retry_after: timedelta = timedelta()


class Exchange(Protocol):
    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None, /
    ) -> Response: ...


class HttpExchange:
    """Uses https, and http to loopback addresses where these are permitted; follows no redirects, keeps no cookies."""

    def __init__(self, destinations: Destinations) -> None:
        self._destinations = destinations
        self._session = guarded_session(TIMEOUT_SECS, destinations.is_refused)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None, /
    ) -> Response:
        try:
            address = URL(url, encoded=True)
        except (ValueError, InvalidURL):
            return Response(0)
        # A literal address is not checked by the resolver.
        if not self._is_allowed(address):
            return Response(0)
        sent = {**headers, ACCEPT_ENCODING: "identity"}
        try:
            async with self._session.request(
                method, address, data=body, headers=sent, allow_redirects=False
            ) as response:
                return Response(response.status, await _body(response), _pause(response))
        except (ClientError, OSError, TimeoutError):
            return Response(0)

    def _is_allowed(self, address: URL) -> bool:
        host = address.host or ""
        if not host or self._destinations.is_refused(host):
            return False
        return address.scheme == "https" or (address.scheme == "http" and is_loopback(host))


async def _body(response: ClientResponse) -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > MOST_OCTETS:
            # The rest is not read, so the connection cannot be used again.
            response.close()
            return b""
    return bytes(body)


def _pause(response: ClientResponse) -> timedelta:
    """RFC 9110 §10.2.3: the number of seconds; a date is ignored."""
    text = response.headers.get(RETRY_AFTER, "")
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(_LONGEST_PAUSE_SECS))
    return timedelta(seconds=min(int(text), _LONGEST_PAUSE_SECS)) if is_number else timedelta()
