"""The client to which a user returns after the confirmation."""

from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from identity.authentication.requests.redirect_uris import is_registered
from identity.directory.client import Client
from identity.directory.pending_registration import PendingRegistration
from identity.foundation.tenants import Tenant
from server.platform.errors import InvalidArgument

_WEB = frozenset({"http", "https"})


class Clients(Protocol):
    async def find(self, tenant: Tenant, client_id: str) -> Client | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnAddress:
    """Both are empty when there is no client to return to; `uri` is registered by the client."""

    uri: str = ""
    client_name: str = ""


class ReturnAddresses:
    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    async def expect(self, tenant: Tenant, client_id: str, redirect_uri: str) -> None:
        """Raise InvalidArgument for a redirect URI that the client did not register."""
        if not redirect_uri:
            return
        client = await self._client(tenant, client_id)
        if client is None or not _leads_to(client, redirect_uri):
            raise InvalidArgument("redirect_uri: expected one that the client registered")

    async def of(self, tenant: Tenant, registration: PendingRegistration) -> ReturnAddress:
        """Return the destination, by the client's present registration."""
        client = await self._client(tenant, registration.client_id)
        if client is None:
            return ReturnAddress()
        asked = registration.return_uri
        uri = asked if asked and _leads_to(client, asked) else client.client_uri
        if urlsplit(uri).scheme not in _WEB:
            return ReturnAddress(client_name=client.name)
        return ReturnAddress(uri=uri, client_name=client.name or client.client_id)

    async def _client(self, tenant: Tenant, client_id: str) -> Client | None:
        client = await self._clients.find(tenant, client_id) if client_id else None
        return client if client is not None and client.is_enabled else None


def _leads_to(client: Client, uri: str) -> bool:
    return is_registered(uri, client.redirect_uris) or uri == client.client_uri
