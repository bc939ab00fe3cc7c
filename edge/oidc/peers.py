"""The address that a request came from, behind proxies that are trusted."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from aiohttp import web

_FORWARDED_FOR = "X-Forwarded-For"
_MAX_HOPS = 32

_Address = IPv4Address | IPv6Address


class Peers:
    def __init__(self, trusted_proxies: Iterable[str]) -> None:
        self._trusted = tuple(map(ip_network, trusted_proxies))

    def address(self, request: web.Request) -> str:
        """Return the nearest address that no trusted proxy has, empty when the peer has none."""
        nearest = _address(request.remote or "")
        for hop in _hops(request):
            # Whoever is not trusted may have written everything before it.
            if nearest is None or not self._is_trusted(nearest):
                break
            found = _address(hop)
            if found is None:
                break
            nearest = found
        return str(nearest) if nearest else ""

    def is_trusted(self, request: web.Request) -> bool:
        """Whether what the peer says of others is believed."""
        address = _address(request.remote or "")
        return address is not None and self._is_trusted(address)

    def _is_trusted(self, address: _Address) -> bool:
        return any(address in network for network in self._trusted)


def _hops(request: web.Request) -> list[str]:
    """List the addresses of the header, the nearest first."""
    hops = ",".join(request.headers.getall(_FORWARDED_FOR, ())).split(",")
    return [hop.strip() for hop in reversed(hops[-_MAX_HOPS:])]


def _address(text: str) -> _Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    # One client, one address, whatever the socket's family.
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
