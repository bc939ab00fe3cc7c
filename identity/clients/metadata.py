"""What addresses a client may have: RFC 6749 §3.1.2, RFC 8252 §7, RFC 9700 §2.1.

Whatever is refused is not repeated. All functions raise InvalidArgument, which names the member.
"""

import re
from collections.abc import Iterable
from urllib.parse import SplitResult, urlsplit

from server.platform.errors import InvalidArgument

# RFC 3986 §2; what else stands in an address is read differently by different readers.
_PRINTABLE = re.compile(r"[A-Za-z0-9\-._~:/?\[\]@!$&'()+,;=%]+")
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


def expect_redirect_uris(member: str, uris: Iterable[str]) -> None:
    """Expect https, http on a loopback address, or a private-use scheme, which has a dot: RFC 8252 §7.1."""
    for uri in uris:
        parts = _parsed(uri)
        is_private = parts is not None and "." in parts.scheme and bool(parts.path or parts.netloc)
        if not _is_safe(parts) and not is_private:
            raise InvalidArgument(
                f"{member}: expected absolute addresses without fragment, of https, of a loopback host or of a "
                "private-use scheme"
            )


def expect_safe_uri(member: str, uri: str) -> None:
    """Expect https, or http on a loopback address; an empty one is none."""
    if uri and not _is_safe(_parsed(uri)):
        raise InvalidArgument(f"{member}: expected an https address without fragment")


def expect_origins(member: str, origins: Iterable[str]) -> None:
    """Expect what browsers send: RFC 6454 §6.2."""
    for origin in origins:
        parts = _parsed(origin)
        is_origin = parts is not None and origin.lower() == f"{parts.scheme}://{parts.netloc}".lower()
        if not is_origin or not _is_safe(parts):
            raise InvalidArgument(f"{member}: expected https://host or https://host:port")


def expect_resources(member: str, uris: Iterable[str]) -> None:
    """RFC 8707 §2."""
    for uri in uris:
        parts = _parsed(uri)
        if parts is None or not (parts.netloc or parts.path):
            raise InvalidArgument(f"{member}: expected absolute addresses without fragment")


def _is_safe(parts: SplitResult | None) -> bool:
    if parts is None or not parts.hostname or "@" in parts.netloc:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)


def _parsed(uri: str) -> SplitResult | None:
    """Return its parts when it is absolute and has no fragment."""
    if _PRINTABLE.fullmatch(uri) is None:
        return None
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError:
        return None
    return parts if parts.scheme and port != 0 else None
