"""Octets in texts of password hashes: base64 without padding, in the alphabet of RFC 4648 or that of passlib."""

import base64
import binascii

from server.platform.errors import InvalidArgument

_LEAST_SALT, _MOST_SALT = 4, 128
_LEAST_CHECKSUM, _MOST_CHECKSUM = 16, 256


def refused(what: str) -> InvalidArgument:
    """Return the refusal of a hash; its message does not repeat the input."""
    return InvalidArgument(f"password_hash: {what}")


def octets(text: str) -> bytes:
    """Raises InvalidArgument."""
    standard = text.replace(".", "+").rstrip("=")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise refused("expected base64") from error


def encoded(value: bytes) -> str:
    return base64.b64encode(value).rstrip(b"=").decode()


def number(text: str) -> int:
    """Raises InvalidArgument."""
    if not (text.isascii() and text.isdecimal() and len(text) < len("10000000000")):
        raise refused("expected a number")
    return int(text)


def expect_sizes(salt: bytes, checksum: bytes) -> None:
    """Raises InvalidArgument."""
    if not (_LEAST_SALT <= len(salt) <= _MOST_SALT and _LEAST_CHECKSUM <= len(checksum) <= _MOST_CHECKSUM):
        raise refused("expected a salt of 4 to 128 octets and a checksum of 16 to 256")
