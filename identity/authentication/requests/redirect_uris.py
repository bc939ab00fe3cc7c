"""Validation of redirect URIs: RFC 9700 §2.1, RFC 8252 §7.3.

A redirect URI is compared as a text. Only the port of a loopback address may differ from the registered one.
"""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

_LOOPBACK = re.compile(
    r"(?P<host>http://(?:127\.0\.0\.1|\[::1\]))(?::(?P<port>[0-9]{1,5}))?(?P<rest>[/?].*)?"
)
_HTTP = 80
_HIGHEST_PORT = 65_535
_WEB = frozenset({"http", "https"})


def is_registered(redirect_uri: str, registered: Iterable[str]) -> bool:
    portless = _without_port(redirect_uri)
    return any(
        redirect_uri == known or (portless is not None and portless == _without_port(known))
        for known in registered
    )


def origin_of(redirect_uri: str) -> str:
    """Return the source expression of the URI for a content security policy."""
    parts = urlsplit(redirect_uri)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in _WEB else f"{parts.scheme}:"


def _without_port(uri: str) -> tuple[str, str | None] | None:
    match = _LOOPBACK.fullmatch(uri)
    if match is None or not 0 < int(match["port"] or _HTTP) <= _HIGHEST_PORT:
        return None
    return match["host"], match["rest"]
