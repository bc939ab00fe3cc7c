"""Validation of addresses in client metadata: RFC 6749 §3.1.2, RFC 8252 §7, RFC 9700 §2.1.

All functions raise InvalidArgument, which names the member and does not repeat its value.
"""

from collections.abc import Collection, Iterable
from urllib.parse import SplitResult

from identity.delivery.http.destinations import Destinations
from identity.foundation.absolute_uris import absolute_uri
from server.platform.errors import InvalidArgument

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})

_PORTS = {"http": 80, "https": 443}

# RFC 9101 §5.2.
_MAX_REQUEST_URI = 512


def expect_redirect_uris(member: str, uris: Iterable[str]) -> None:
    """Expect https, http on a loopback address, or a private-use scheme, which has a dot: RFC 8252 §7.1."""
    for uri in uris:
        parts = absolute_uri(uri)
        is_private = parts is not None and "." in parts.scheme
        if not _is_safe(parts) and not is_private:
            raise InvalidArgument(
                f"{member}: expected absolute addresses without fragment, of https, of a loopback host or of a "
                "private-use scheme"
            )


def expect_safe_uri(member: str, uri: str) -> None:
    """Expect https, or http on a loopback address; empty is allowed."""
    if uri and not _is_safe(absolute_uri(uri)):
        raise InvalidArgument(f"{member}: expected an https address without fragment")


def expect_same_origin(member: str, uri: str, others: Iterable[str]) -> None:
    """Expect an address of the scheme, host and port of one of the others; empty is allowed."""
    if uri and _origin(uri) not in set(map(_origin, others)):
        raise InvalidArgument(f"{member}: expected scheme, host and port of one of redirect_uris")


def expect_reachable(member: str, uri: str, destinations: Destinations) -> None:
    """Expect an address that the provider may connect to; names are checked again when they are resolved.

    Credentials within an address would be shown with it, and sent to whatever server has the name.
    """
    parts = absolute_uri(uri.partition("#")[0])
    if parts is not None and "@" in parts.netloc:
        raise InvalidArgument(f"{member}: expected an address without user name and password")
    if uri in destinations.configured or parts is None or not destinations.is_refused(parts.hostname or ""):
        return
    raise InvalidArgument(
        f"{member}: expected a public address, or one in a network of outgoing.allowed_networks"
    )


def expect_origins(member: str, origins: Iterable[str]) -> None:
    """Expect origins as browsers serialize them: RFC 6454 §6.2."""
    for origin in origins:
        parts = absolute_uri(origin)
        is_origin = parts is not None and origin.lower() == f"{parts.scheme}://{parts.netloc}".lower()
        if not is_origin or not _is_safe(parts):
            raise InvalidArgument(f"{member}: expected https://host or https://host:port")


def expect_resources(member: str, uris: Iterable[str]) -> None:
    """RFC 8707 §2."""
    for uri in uris:
        if absolute_uri(uri) is None:
            raise InvalidArgument(f"{member}: expected absolute addresses without fragment")


def expect_request_uris(member: str, uris: Iterable[str]) -> None:
    """Expect addresses of request objects, perhaps with a fragment as version: OpenID Connect Core 1.0 §6.2."""
    for uri in uris:
        address, hash_sign, fragment = uri.partition("#")
        is_whole = not hash_sign or absolute_uri(f"{address}?{fragment}") is not None
        if len(uri) > _MAX_REQUEST_URI or not is_whole or not _is_safe(absolute_uri(address)):
            raise InvalidArgument(
                f"{member}: expected https addresses of at most {_MAX_REQUEST_URI} characters"
            )


def expect_algorithm(member: str, name: str, known: Collection[str]) -> None:
    """Expect one of the known algorithms; empty is allowed."""
    if name and name not in known:
        raise InvalidArgument(f"{member}: expected one of {', '.join(known)}")


def _origin(uri: str) -> tuple[str, str, int | None] | None:
    parts = absolute_uri(uri)
    if parts is None or not parts.hostname:
        return None
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)


def _is_safe(parts: SplitResult | None) -> bool:
    if parts is None or not parts.hostname or "@" in parts.netloc:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
