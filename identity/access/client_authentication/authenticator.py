"""Client authentication at the protocol endpoints: RFC 6749 §2.3, RFC 7523 §2.2, RFC 8705 §2.

An unknown client, a disabled one, one of another tenant and a wrong secret give the same error in the same time.
"""

import hmac
from dataclasses import dataclass, field

from identity.access.client_authentication.assertions import ClientAssertions
from identity.access.client_authentication.certificates import ClientCertificates
from identity.directory.client import Client
from identity.directory.clients import Clients
from identity.directory.secrets import SecretHasher
from identity.foundation.errors import InvalidClient
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import (
    CERTIFICATE_METHODS,
    KEY_METHODS,
    SECRET_METHODS,
    AuthenticationMethod,
)
from server.platform.clock import Clock


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """Credentials of a client in a request; with an assertion the request itself may lack the client id.

    `certificate` is that of the connection, in DER, whether or not the client authenticates by it.
    """

    method: AuthenticationMethod
    client_id: str
    client_secret: str = field(default="", repr=False)
    client_assertion: str = field(default="", repr=False)
    certificate: bytes = field(default=b"", repr=False)


class ClientAuthenticator:
    def __init__(
        self,
        clients: Clients,
        secrets: SecretHasher,
        *,
        assertions: ClientAssertions,
        certificates: ClientCertificates,
        clock: Clock,
    ) -> None:
        self._clients = clients
        self._secrets = secrets
        self._assertions = assertions
        self._certificates = certificates
        self._clock = clock
        self._decoy = secrets.hash("")

    async def authenticate(self, credentials: ClientCredentials, tenant: Tenant) -> Client:
        """Return the authenticated client; raises InvalidClient.

        A public client is returned without any proof; grants must take this into account.
        """
        client_id = self._client_id(credentials)
        client = await self._clients.find(tenant, client_id) if client_id else None
        is_proved = await self._is_proved(credentials, client, tenant)
        if client is None or not is_proved or not client.is_enabled:
            raise InvalidClient("client authentication failed")
        return client

    def _client_id(self, credentials: ClientCredentials) -> str:
        if credentials.method is not AuthenticationMethod.PRIVATE_KEY_JWT:
            return credentials.client_id
        subject = self._assertions.subject(credentials.client_assertion)
        return subject if credentials.client_id in ("", subject) else ""

    async def _is_proved(self, credentials: ClientCredentials, client: Client | None, tenant: Tenant) -> bool:
        if credentials.method is AuthenticationMethod.PRIVATE_KEY_JWT:
            return client is not None and await self._is_asserted(credentials, client, tenant)
        is_secret_right = self._is_secret_right(credentials.client_secret, client)
        if client is None or (client.follows_fapi and client.token_endpoint_auth_method not in KEY_METHODS):
            return False
        if client.is_public:
            return True
        if client.token_endpoint_auth_method in CERTIFICATE_METHODS:
            is_alone = credentials.method is AuthenticationMethod.NONE
            return is_alone and await self._certificates.prove(credentials.certificate, client)
        return is_secret_right and {credentials.method, client.token_endpoint_auth_method} <= SECRET_METHODS

    async def _is_asserted(self, credentials: ClientCredentials, client: Client, tenant: Tenant) -> bool:
        if client.token_endpoint_auth_method is not AuthenticationMethod.PRIVATE_KEY_JWT:
            return False
        return await self._assertions.holds(credentials.client_assertion, client, tenant=tenant)

    def _is_secret_right(self, secret: str, client: Client | None) -> bool:
        """Compare with the present and the previous secret, or with a decoy, always at the same cost."""
        presented = self._secrets.hash(secret)
        is_current = hmac.compare_digest(presented, (client and client.secret_hash) or self._decoy)
        is_previous = hmac.compare_digest(presented, (client and client.previous_secret_hash) or self._decoy)
        has_grace = client is not None and self._clock.now().timestamp() < client.previous_secret_until
        return bool(secret) and (is_current or (is_previous and has_grace))
