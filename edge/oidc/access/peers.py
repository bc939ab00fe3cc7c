"""The network address of a client behind trusted proxies."""

from collections.abc import Iterable
from functools import lru_cache

from aiohttp import web
from multidict import istr

from server.platform.networks import Networks, address_of

_FORWARDED_FOR = istr("X-Forwarded-For")
_MAX_HOPS = 32
_MAX_KNOWN = 4096


class Peers:
    def __init__(self, trusted_proxies: Iterable[str]) -> None:
        self._trusted = Networks(trusted_proxies)

    def address(self, request: web.Request) -> str:
        """Return the nearest address that is no trusted proxy, empty when the peer has none."""
        if _FORWARDED_FOR not in request.headers:
            return _normal(request.remote or "")
        nearest = address_of(request.remote or "")
        for hop in _hops(request):
            # An untrusted peer may have written all earlier addresses of the header.
            if nearest is None or nearest not in self._trusted:
                break
            found = address_of(hop)
            if found is None:
                break
            nearest = found
        return str(nearest) if nearest else ""

    def is_trusted(self, request: web.Request) -> bool:
        """Whether the peer is a trusted proxy."""
        address = address_of(request.remote or "")
        return address is not None and address in self._trusted


@lru_cache(_MAX_KNOWN)
def _normal(peer: str) -> str:
    """Return an address as it is written elsewhere, empty for a text that is none."""
    return str(address_of(peer) or "")


def _hops(request: web.Request) -> list[str]:
    """Return the addresses of X-Forwarded-For, nearest first."""
    hops = ",".join(request.headers.getall(_FORWARDED_FOR, ())).split(",")
    return [hop.strip() for hop in reversed(hops[-_MAX_HOPS:])]
