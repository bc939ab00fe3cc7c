"""Refresh tokens: opaque to clients, stored as keyed hashes only.

A token contains the id of its token set and a MAC, so that a genuine one is recognized long after it was replaced. The
successor is a keyed hash of the token. So a client that repeats a request gets the same successor, and no token is
stored.
"""

import base64
import hmac

from identity.directory.secrets import SecretHasher
from identity.foundation.randomness import Randomness

_SECRET_LENGTH = 43
_SEAL_LENGTH = 32


class RefreshTokens:
    def __init__(self, secrets: SecretHasher, randomness: Randomness) -> None:
        self._secrets = secrets
        self._randomness = randomness

    def first(self, token_set_id: str) -> str:
        return self._sealed(token_set_id, self._randomness.alphanumeric(_SECRET_LENGTH))

    def following(self, token: str) -> str:
        """Return the successor of this token, always the same."""
        digest = self._secrets.hash(f"refresh token that follows {token}")
        secret = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        return self._sealed(token.partition(".")[0], secret)

    def token_set_id(self, token: str) -> str | None:
        """Return the id of the token set, None for a token that is not genuine."""
        token_set_id, _, rest = token.partition(".")
        secret, _, _ = rest.partition(".")
        expected = self._sealed(token_set_id, secret)
        return token_set_id if hmac.compare_digest(expected.encode(), token.encode()) else None

    def hash(self, token: str) -> str:
        return self._secrets.hash(token).hex()

    def is_hashed(self, token: str, token_hash: str) -> bool:
        """Whether the token has this hash; no token has an empty hash."""
        return hmac.compare_digest(self.hash(token), token_hash)

    def _sealed(self, token_set_id: str, secret: str) -> str:
        seal = self._secrets.hash(f"refresh token of {token_set_id} {secret}").hex()[:_SEAL_LENGTH]
        return f"{token_set_id}.{secret}.{seal}"
