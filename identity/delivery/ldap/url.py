"""Addresses of directory servers: RFC 4516, without a search."""

from dataclasses import dataclass
from urllib.parse import urlsplit

_PORTS = {"ldap": 389, "ldaps": 636}


@dataclass(frozen=True, slots=True)
class LdapServer:
    """With `starts_tls` the connection begins in the clear and continues with TLS, before anything else is sent."""

    host: str
    port: int
    is_encrypted: bool
    starts_tls: bool = False


def ldap_server(url: str, *, starts_tls: bool) -> LdapServer:
    """Return the server; raises ValueError unless the URL is `ldaps://host:port` or `ldap://host:port`."""
    parts = urlsplit(url)
    is_plain = not (parts.query or parts.fragment or "@" in parts.netloc or parts.path not in {"", "/"})
    if parts.scheme not in _PORTS or not parts.hostname or not is_plain or "%" in parts.netloc:
        raise ValueError("expected ldaps://host:port or ldap://host:port")
    is_tls = parts.scheme == "ldaps"
    return LdapServer(
        parts.hostname, parts.port or _PORTS[parts.scheme], is_tls or starts_tls, starts_tls and not is_tls
    )
