"""Client authentication at the protocol endpoints: RFC 6749 §2.3.

An unknown client, a disabled one, one of another tenant and a wrong secret look the same and cost the same.
"""

from dataclasses import dataclass, field
from typing import Protocol

from identity.clients.client import Client, ClientId
from identity.clients.secrets import SecretHasher
from identity.errors import InvalidClient
from identity.tenants import Tenant, Tenants
from identity.vocabulary import AuthenticationMethod


class Clients(Protocol):
    async def find(self, client_id: ClientId, /) -> Client | None: ...


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """What a request says about its client."""

    method: AuthenticationMethod
    client_id: str
    client_secret: str = field(repr=False)


class ClientAuthenticator:
    def __init__(self, clients: Clients, secrets: SecretHasher, tenants: Tenants) -> None:
        self._clients = clients
        self._secrets = secrets
        self._tenants = tenants
        self._decoy = secrets.hash("")

    async def authenticate(self, credentials: ClientCredentials, tenant: Tenant) -> Client:
        """Return the client that the credentials prove; raises InvalidClient."""
        if credentials.method is AuthenticationMethod.NONE or not credentials.client_secret:
            raise InvalidClient("client authentication is missing")
        client = await self._clients.find(ClientId(credentials.client_id))
        secret_hash = client.secret_hash if client else self._decoy
        is_proved = self._secrets.matches(credentials.client_secret, secret_hash)
        if client is None or not is_proved or not self._is_served(client, tenant):
            raise InvalidClient("client authentication failed")
        return client

    def _is_served(self, client: Client, tenant: Tenant) -> bool:
        return client.is_enabled and client.is_known_at(tenant, default=self._tenants.default)
