"""Source of unguessable values."""

import secrets
import string
from typing import Protocol

_ALPHANUMERICS = string.ascii_letters + string.digits


class Randomness(Protocol):
    """Unpredictable values; safe to call from several threads."""

    def alphanumeric(self, length: int) -> str: ...

    def octets(self, length: int) -> bytes: ...


class SystemRandomness:
    """The operating system's generator."""

    def alphanumeric(self, length: int) -> str:
        return "".join(secrets.choice(_ALPHANUMERICS) for _ in range(length))

    def octets(self, length: int) -> bytes:
        return secrets.token_bytes(length)
