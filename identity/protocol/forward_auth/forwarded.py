"""The original request, as the headers of the proxy describe it."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from identity.directory.client import Client
from server.platform.errors import InvalidArgument

_HOST = re.compile(r"(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
# Appended to an origin, such a text cannot change the origin.
_URI = re.compile(r"/[\x21-\x7E]{0,4095}")
_DEFAULT_PORTS = {"https": ":443", "http": ":80"}
_SAFE = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Forwarded:
    """`uri` is path and query."""

    scheme: str
    host: str
    uri: str
    method: str

    @property
    def origin(self) -> str:
        return _origin(self.scheme, self.host)

    @property
    def address(self) -> str:
        return f"{self.origin}{self.uri}"

    @property
    def is_safe(self) -> bool:
        """Whether the method is safe: RFC 9110 §9.2.1."""
        return self.method in _SAFE


def expect_of(client: Client, forwarded: Forwarded, *, allows_insecure: bool) -> None:
    """Expect a request to the service of the client; raises InvalidArgument."""
    if forwarded.scheme not in _DEFAULT_PORTS or _HOST.fullmatch(forwarded.host) is None:
        raise InvalidArgument("expected X-Forwarded-Proto and X-Forwarded-Host of a web origin")
    if _URI.fullmatch(forwarded.uri) is None or not forwarded.method.isalpha():
        raise InvalidArgument("expected X-Forwarded-Uri with a path, and X-Forwarded-Method")
    if forwarded.scheme != "https" and not allows_insecure:
        raise InvalidArgument("expected X-Forwarded-Proto https")
    # The whole origin is compared: a stranger's origin may begin in the same way.
    if _origin_of_first(client) != forwarded.origin:
        raise InvalidArgument("expected the client's first redirect URI at the forwarded origin")


def _origin_of_first(client: Client) -> str:
    parts = urlsplit(next(iter(client.redirect_uris), ""))
    return _origin(parts.scheme, parts.netloc)


def _origin(scheme: str, host: str) -> str:
    return f"{scheme}://{host.lower().removesuffix(_DEFAULT_PORTS.get(scheme, ''))}"
