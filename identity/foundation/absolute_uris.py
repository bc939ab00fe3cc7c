"""Absolute URIs, which have a scheme and no fragment: RFC 3986 §4.3."""

import re
from urllib.parse import SplitResult, urlsplit

# RFC 3986 §2. Parsers disagree about other characters.
_PRINTABLE = re.compile(r"[A-Za-z0-9\-._~:/?\[\]@!$&'()+,;=%]+")


def absolute_uri(text: str) -> SplitResult | None:
    """Return the parts of an absolute URI with a host, or None."""
    if _PRINTABLE.fullmatch(text) is None:
        return None
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return None
    return parts if parts.scheme and (parts.netloc or parts.path) and port != 0 else None
