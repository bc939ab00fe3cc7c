"""Source of unguessable values."""

import secrets
import string
from typing import Protocol

_ALPHANUMERICS = string.ascii_letters + string.digits
_LAST_MULTIPLE = 256 // len(_ALPHANUMERICS) * len(_ALPHANUMERICS)
# An octet beyond the last multiple would make the first letters more likely.
_DROPPED = bytes(range(_LAST_MULTIPLE, 256))
_LETTER_OF = bytes(ord(_ALPHANUMERICS[octet % len(_ALPHANUMERICS)]) for octet in range(256))


class Randomness(Protocol):
    """Unpredictable values; safe to call from several threads."""

    def alphanumeric(self, length: int) -> str: ...

    def octets(self, length: int) -> bytes: ...


class SystemRandomness:
    """The operating system's generator."""

    def alphanumeric(self, length: int) -> str:
        found = ""
        while len(found) < length:
            found += secrets.token_bytes(length).translate(_LETTER_OF, _DROPPED).decode("ascii")
        return found[:length]

    def octets(self, length: int) -> bytes:
        return secrets.token_bytes(length)
