"""The address that a request came from, behind proxies that are trusted."""

from collections.abc import Iterable

from aiohttp import web

from edge.addresses import Networks, address_of

_FORWARDED_FOR = "X-Forwarded-For"
_MAX_HOPS = 32


class Peers:
    def __init__(self, trusted_proxies: Iterable[str]) -> None:
        self._trusted = Networks(trusted_proxies)

    def address(self, request: web.Request) -> str:
        """Return the nearest address that no trusted proxy has, empty when the peer has none."""
        nearest = address_of(request.remote or "")
        for hop in _hops(request):
            # A peer that is not trusted may have written everything before it.
            if nearest is None or nearest not in self._trusted:
                break
            found = address_of(hop)
            if found is None:
                break
            nearest = found
        return str(nearest) if nearest else ""

    def is_trusted(self, request: web.Request) -> bool:
        """Whether the peer is a trusted proxy, whose forwarded headers count."""
        address = address_of(request.remote or "")
        return address is not None and address in self._trusted


def _hops(request: web.Request) -> list[str]:
    """List the addresses of the header, the nearest first."""
    hops = ",".join(request.headers.getall(_FORWARDED_FOR, ())).split(",")
    return [hop.strip() for hop in reversed(hops[-_MAX_HOPS:])]
