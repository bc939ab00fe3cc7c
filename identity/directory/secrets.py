"""Client secrets at rest.

A client secret is a long random string, so a keyed hash suffices. A slow hash would protect guessable passwords only,
and the token endpoint checks a secret on every call.
"""

import hmac


class SecretHasher:
    """HMAC-SHA256 under a secret key of the provider: stolen hashes alone cannot be used to verify guesses."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def hash(self, secret: str) -> bytes:
        return hmac.digest(self._key, secret.encode(), "sha256")
