"""Fetches documents of other servers over HTTP: bounded in time and size, from permitted destinations only.

The error does not give the reason, which would reveal the addresses that answer in a private network.
"""

from collections.abc import Mapping
from typing import Protocol, Self

from aiohttp import ClientError, ClientResponse, InvalidURL
from aiohttp.hdrs import ACCEPT, ACCEPT_ENCODING, AUTHORIZATION
from yarl import URL

from identity.delivery.http.destinations import Destinations, is_loopback
from identity.delivery.http.sessions import guarded_session

_TIMEOUT_SECS = 5.0
_MAX_OCTETS = 65_536
_OK = 200
_JSON = "application/json"


class UnreadableDocument(Exception):
    """The address has no document, or one that is not accepted."""


class Documents(Protocol):
    async def read(self, uri: str, /) -> str:
        """Raises UnreadableDocument."""
        ...


class HttpDocuments:
    """Fetches over https, and over http from loopback addresses where these are permitted."""

    def __init__(self, destinations: Destinations) -> None:
        self._destinations = destinations
        self._session = guarded_session(_TIMEOUT_SECS, destinations.is_refused)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def read(
        self,
        uri: str,
        /,
        *,
        authorization: str = "",
        accept: str = _JSON,
        max_octets: int = _MAX_OCTETS,
    ) -> str:
        """Raises UnreadableDocument."""
        return await self._answer("GET", uri, authorization, accept=accept, max_octets=max_octets)

    async def post(self, uri: str, form: Mapping[str, str], /, *, authorization: str = "") -> str:
        """Return the document in the response to a form; raises UnreadableDocument."""
        return await self._answer("POST", uri, authorization, form)

    async def _answer(
        self,
        method: str,
        uri: str,
        authorization: str,
        form: Mapping[str, str] | None = None,
        *,
        accept: str = _JSON,
        max_octets: int = _MAX_OCTETS,
    ) -> str:
        if not self._is_allowed(uri):
            raise UnreadableDocument
        proof = {AUTHORIZATION: authorization} if authorization else {}
        headers = {ACCEPT: accept, ACCEPT_ENCODING: "identity", **proof}
        try:
            async with self._session.request(
                method, uri, headers=headers, data=form, allow_redirects=False
            ) as response:
                return (await _body(response, max_octets)).decode()
        except (ClientError, OSError, TimeoutError, UnicodeDecodeError) as error:
            raise UnreadableDocument from error

    def _is_allowed(self, uri: str) -> bool:
        try:
            url = URL(uri)
        except (ValueError, InvalidURL):
            return False
        host = url.host or ""
        if not host or self._destinations.is_refused(host):
            return False
        return url.scheme == "https" or (url.scheme == "http" and is_loopback(host))


async def _body(response: ClientResponse, max_octets: int) -> bytes:
    """Raises UnreadableDocument for an error status, or for an answer that is too large."""
    if response.status != _OK:
        raise UnreadableDocument
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > max_octets:
            raise UnreadableDocument
    return bytes(body)
