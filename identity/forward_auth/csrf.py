"""CSRF tokens of services behind a proxy, of which the database has a keyed hash.

A session that the version before began has the token itself in its record, and keeps it until it ends.
"""

import hmac

from identity.clients.secrets import SecretHasher

# No token has one: those are letters and digits.
_HASHED = "#"


def hashed(hasher: SecretHasher, token: str) -> str:
    """Return what a record holds of a token."""
    return f"{_HASHED}{hasher.hash(f'forward csrf token {token}').hex()}"


def is_token(hasher: SecretHasher, kept: str, token: str) -> bool:
    """Whether a record is of this token."""
    shown = hashed(hasher, token) if kept.startswith(_HASHED) else token
    return hmac.compare_digest(kept.encode(), shown.encode())
