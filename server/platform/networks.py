"""IP addresses and networks of peers."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address


class Networks:
    """A set of networks in CIDR notation; raises ValueError for anything else."""

    def __init__(self, networks: Iterable[str]) -> None:
        self._networks: tuple[IPv4Network | IPv6Network, ...] = tuple(map(ip_network, networks))

    def __contains__(self, address: Address) -> bool:
        return any(address in network for network in self._networks)


def address_of(text: str) -> Address | None:
    """Parse an address; an IPv4 address that is mapped into IPv6 becomes IPv4. None for anything else."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    # A client has the same address, whatever the address family of the socket.
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
