"""Client secrets at rest.

A client secret is a long random string, so a keyed hash is enough: there is nothing to guess that a slow hash would
protect, and the token endpoint checks one on every call.
"""

import hmac


class SecretHasher:
    """HMAC-SHA256 under the provider's own key: stolen hashes alone verify nothing."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def hash(self, secret: str) -> bytes:
        return hmac.digest(self._key, secret.encode(), "sha256")
