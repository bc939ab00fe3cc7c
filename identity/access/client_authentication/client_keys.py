"""Public keys of clients, registered as `jwks` or published at `jwks_uri`: for signatures and for encryption."""

from collections.abc import Sequence

from joserfc.jwk import Key

from identity.crypto.jose.encryption import KeyManagement, keys_for
from identity.crypto.jose.public_keys import named, parse_key_set
from identity.delivery.http.published_keys import PublishedKeys
from identity.directory.client import Client


class ClientKeys:
    def __init__(self, published: PublishedKeys) -> None:
        self._published = published

    async def of(self, client: Client, *, kid: str) -> Sequence[Key]:
        """Return keys of the client for signatures: the one with the `kid`, or all when it is empty."""
        if client.jwks:
            return named(parse_key_set(client.jwks), kid)
        return await self._published.at(client.jwks_uri, kid=kid) if client.jwks_uri else ()

    async def for_encryption(self, client: Client, alg: KeyManagement) -> Sequence[Key]:
        """Return keys of the client that encrypt with this algorithm, best first."""
        if client.jwks:
            return keys_for(parse_key_set(client.jwks), alg)
        return await self._published.for_encryption(client.jwks_uri, alg) if client.jwks_uri else ()
