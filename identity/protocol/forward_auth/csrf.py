"""CSRF tokens of services behind a proxy; the database holds a keyed hash only.

A session that the previous version created has the token itself in its record until it ends.
"""

import hmac

from identity.directory.secrets import SecretHasher

# Tokens are letters and digits, so none begins with this sign.
_HASHED = "#"


def hashed(hasher: SecretHasher, token: str) -> str:
    """Return the stored form of a token."""
    return f"{_HASHED}{hasher.hash(f'forward csrf token {token}').hex()}"


def is_token(hasher: SecretHasher, kept: str, token: str) -> bool:
    """Whether the stored text is of this token."""
    shown = hashed(hasher, token) if kept.startswith(_HASHED) else token
    return hmac.compare_digest(kept.encode(), shown.encode())
