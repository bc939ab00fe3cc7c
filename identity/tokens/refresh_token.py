"""Refresh tokens: opaque to clients, kept as keyed hashes alone.

A token names its set and carries our seal, so that one of ours is told from an invented one long after it was
replaced. The one that follows is a keyed hash of it: whoever asks again because an answer got lost is given the same
one, and still nothing that could be stolen is kept.
"""

import base64
import hmac

from identity.clients.secrets import SecretHasher
from identity.randomness import Randomness

_SECRET_LENGTH = 43
_SEAL_LENGTH = 32


class RefreshTokens:
    def __init__(self, secrets: SecretHasher, randomness: Randomness) -> None:
        self._secrets = secrets
        self._randomness = randomness

    def first(self, token_set_id: str) -> str:
        return self._sealed(token_set_id, self._randomness.alphanumeric(_SECRET_LENGTH))

    def following(self, token: str) -> str:
        """Return the token that takes the place of this one, always the same."""
        digest = self._secrets.hash(f"refresh token that follows {token}")
        secret = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        return self._sealed(token.partition(".")[0], secret)

    def token_set_id(self, token: str) -> str | None:
        """Return the set that the token is of, None when it is not one of ours."""
        token_set_id, _, rest = token.partition(".")
        secret, _, _ = rest.partition(".")
        expected = self._sealed(token_set_id, secret)
        return token_set_id if hmac.compare_digest(expected.encode(), token.encode()) else None

    def hash(self, token: str) -> str:
        return self._secrets.hash(token).hex()

    def is_hashed(self, token: str, token_hash: str) -> bool:
        """Whether it is the token with this hash; an empty hash is no token's."""
        return hmac.compare_digest(self.hash(token), token_hash)

    def _sealed(self, token_set_id: str, secret: str) -> str:
        seal = self._secrets.hash(f"refresh token of {token_set_id} {secret}").hex()[:_SEAL_LENGTH]
        return f"{token_set_id}.{secret}.{seal}"
