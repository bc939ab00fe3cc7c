"""The public keys of clients: registered with them, or published where they say."""

from collections.abc import Sequence

from joserfc.jwk import Key

from identity.clients.client import Client
from identity.jose.public_keys import named, parse_key_set
from identity.outgoing.published_keys import PublishedKeys


class ClientKeys:
    def __init__(self, published: PublishedKeys) -> None:
        self._published = published

    async def of(self, client: Client, *, kid: str) -> Sequence[Key]:
        """Return the client's keys that a signature may be from: the named one, or all when none is named."""
        if client.jwks:
            return named(parse_key_set(client.jwks), kid)
        return await self._published.at(client.jwks_uri, kid=kid) if client.jwks_uri else ()
