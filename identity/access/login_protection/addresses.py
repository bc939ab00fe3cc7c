"""Groups network addresses for rate limits, and knows the exempt ones."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from identity.access.login_protection.config import LoginProtectionConfig


class Addresses:
    def __init__(self, config: LoginProtectionConfig) -> None:
        self._ipv6_prefix = config.ipv6_prefix
        self._allowed = tuple(map(ip_network, config.allowed_networks))

    def group(self, peer_address: str) -> str:
        """Return the unit that failures count for: an IPv4 address, an IPv6 network, or a malformed text itself."""
        address = _parsed(peer_address)
        if isinstance(address, IPv6Address):
            return str(ip_network((address, self._ipv6_prefix), strict=False))
        return peer_address if address is None else str(address)

    def is_allowed(self, peer_address: str) -> bool:
        address = _parsed(peer_address)
        return address is not None and any(address in network for network in self._allowed)


def is_address(text: str) -> bool:
    return _parsed(text) is not None


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
