"""The client whose page makes a FedCM request.

The browser states the origin, and the page states the client id. Only the origins that an administrator registered
connect the two; the client is not authenticated.
"""

from typing import Protocol

from identity.directory.client import Client
from identity.directory.own_clients import OWN_CLIENT_IDS
from identity.foundation.errors import UnauthorizedClient
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import GrantType, Scope
from server.platform.errors import InvalidArgument


class Clients(Protocol):
    async def find(self, tenant: Tenant, client_id: str) -> Client | None: ...


class RelyingParties:
    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    async def find(self, tenant: Tenant, client_id: str, *, origin: str) -> Client:
        """Return the client with pages at this origin; raises InvalidArgument, the same one for an unknown client."""
        client = await self._clients.find(tenant, client_id) if client_id else None
        if client is None or not client.is_enabled or not _has_pages_at(client, origin):
            raise InvalidArgument("there is no client with this id and origin")
        return client


def expect_sign_in(client: Client) -> None:
    """Raises UnauthorizedClient for a client that must authenticate, or that gets no ID tokens or encrypted ones."""
    signs_in = GrantType.AUTHORIZATION_CODE in client.grant_types and Scope.OPENID in client.oauth_scopes
    is_open = client.is_public or client.has_fed_cm
    needs_proof = client.requires_signed_request or client.follows_fapi or not is_open
    # The page gets the ID token, and its browser would read content meant only for the client.
    is_encrypted = client.id_token_encrypted_response_alg is not None
    if not signs_in or needs_proof or is_encrypted:
        raise UnauthorizedClient("the client may not sign users in by FedCM")


def _has_pages_at(client: Client, origin: str) -> bool:
    # RFC 6454 §6.1: browsers send scheme and host in lower case.
    registered = {allowed.lower() for allowed in client.allowed_origins}
    return client.id not in OWN_CLIENT_IDS and origin in registered
