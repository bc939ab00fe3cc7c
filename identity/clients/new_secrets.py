"""New client secrets: shown once, stored as a keyed hash."""

from dataclasses import replace

from identity.directory.client import Client
from identity.directory.secrets import SecretHasher
from identity.foundation.randomness import Randomness
from identity.foundation.vocabulary import SECRET_METHODS, AuthenticationMethod

_LENGTH = 64


class NewSecrets:
    def __init__(self, hasher: SecretHasher, randomness: Randomness) -> None:
        self._hasher = hasher
        self._randomness = randomness

    def give(self, client: Client) -> tuple[Client, str]:
        """Return the client with a new secret, which replaces the present one, and that secret."""
        secret = self._randomness.alphanumeric(_LENGTH)
        method = client.token_endpoint_auth_method
        with_secret = replace(
            client,
            secret_hash=self._hasher.hash(secret),
            previous_secret_hash=None,
            previous_secret_until=0,
            token_endpoint_auth_method=(
                method if method in SECRET_METHODS else AuthenticationMethod.CLIENT_SECRET_BASIC
            ),
        )
        return with_secret, secret
