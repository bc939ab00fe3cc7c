"""Permitted destinations of outgoing requests.

The same rule applies at registration and at connection: public addresses, and the networks of
`outgoing.allowed_networks`. A host name is checked by the addresses to which it resolves at the moment of the
connection, so they cannot change in between.
"""

import socket
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from aiohttp import DefaultResolver
from aiohttp.abc import AbstractResolver, ResolveResult

from identity.delivery.http.config import OutgoingConfig

_Address = IPv4Address | IPv6Address
_Network = IPv4Network | IPv6Network
_LOCALHOST = "localhost"
_LOOPBACK = (IPv4Address("127.0.0.1"), IPv6Address("::1"))

# Global unicast: https://www.iana.org/assignments/ipv6-address-space. The rest is reserved, or of one site.
_GLOBAL_UNICAST = ip_network("2000::/3")

# RFC 6052 §2.1: the last 32 bits are the IPv4 address that a NAT64 gateway connects to.
_NAT64 = ip_network("64:ff9b::/96")

# Other prefixes with an IPv4 address in the last 32 bits: local NAT64 (RFC 8215), IPv4-compatible (RFC 4291 §2.5.5.1).
_ENDING_IN_IPV4 = (ip_network("64:ff9b:1::/48"), ip_network("::/96"))
# These two begin like IPv4-compatible addresses.
_PLAIN = frozenset({IPv6Address("::"), IPv6Address("::1")})

# https://www.iana.org/assignments/iana-ipv4-special-registry, and multicast. The module `ipaddress` has a different
# list in each version of Python. The few networks that are global are refused as well: no server of others is there.
_SPECIAL_IPV4 = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",  # private use
            "100.64.0.0/10",  # shared address space
            "127.0.0.0/8",  # loopback
            "169.254.0.0/16",  # link-local
            "172.16.0.0/12",  # private use
            "192.0.0.0/24",  # IETF protocol assignments
            "192.0.2.0/24",  # documentation
            "192.31.196.0/24",  # AS112
            "192.52.193.0/24",  # AMT
            "192.88.99.0/24",  # 6to4 relays
            "192.168.0.0/16",  # private use
            "192.175.48.0/24",  # AS112
            "198.18.0.0/15",  # benchmarking
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved
        ),
    )
)

# https://www.iana.org/assignments/iana-ipv6-special-registry, where it is part of global unicast.
_SPECIAL_IPV6 = tuple(
    map(
        ip_network,
        (
            # IETF protocol assignments: Teredo, benchmarking, AMT, ORCHID, ORCHIDv2 and drone identifiers among them.
            "2001::/23",
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4
            "2620:4f:8000::/48",  # AS112
            "3fff::/20",  # documentation
        ),
    )
)

# Always refused: link-local, multicast, unspecified, and addresses of cloud metadata services.
_NEVER = tuple(
    map(
        ip_network,
        (
            *("0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "255.255.255.255/32", "100.100.100.200/32"),
            *("::/128", "fe80::/10", "ff00::/8", "fd00:ec2::254/128"),
        ),
    )
)


class RefusedDestination(OSError):
    """The name resolves to no permitted address."""


@dataclass(frozen=True, slots=True)
class Destinations:
    """`configured` are addresses of the operator's configuration; they may be private."""

    allowed: tuple[_Network, ...] = ()
    configured: frozenset[str] = frozenset()

    @classmethod
    def of(cls, config: OutgoingConfig, configured: Collection[str] = ()) -> "Destinations":
        return cls(tuple(map(ip_network, config.allowed_networks)), frozenset(configured) - {""})

    @classmethod
    def of_networks(cls, networks: Iterable[str]) -> "Destinations":
        return cls(tuple(map(ip_network, networks)))

    def is_refused(self, host: str) -> bool:
        """Whether a host is refused; names other than `localhost` are checked when they are resolved."""
        if _is_localhost(host):
            # `localhost` may resolve to either loopback address.
            return not any(self._is_allowed(address) for address in _LOOPBACK)
        return not all(self._is_allowed(address) for address in _addresses(host))

    def _is_allowed(self, address: _Address) -> bool:
        if _is_in(_NEVER, address):
            return False
        return _is_public(address) or _is_in(self.allowed, address)


class GuardedResolver(AbstractResolver):
    """Resolves names to permitted addresses; raises RefusedDestination when there is none."""

    def __init__(self, is_refused: Callable[[str], bool], resolver: AbstractResolver | None = None) -> None:
        self._is_refused = is_refused
        self._resolver = resolver or DefaultResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._resolver.resolve(host, port, family)
        allowed = [result for result in found if not self._is_refused(result["host"])]
        if not allowed:
            raise RefusedDestination("the name has no address to which requests may be sent")
        return allowed

    async def close(self) -> None:
        await self._resolver.close()


def is_never(host: str) -> bool:
    """Whether the address is refused whatever the configuration allows."""
    return any(_is_in(_NEVER, address) for address in _addresses(host))


def is_loopback(host: str) -> bool:
    """Whether the host is a loopback address or `localhost`."""
    addresses = _addresses(host)
    return all(address.is_loopback for address in addresses) if addresses else host == _LOCALHOST


def _is_localhost(host: str) -> bool:
    name = host.rstrip(".").lower()
    return name == _LOCALHOST or name.endswith(f".{_LOCALHOST}")


def _is_in(networks: Iterable[_Network], address: _Address) -> bool:
    return any(address in network for network in networks)


def _is_public(address: _Address) -> bool:
    if isinstance(address, IPv4Address):
        return not _is_in(_SPECIAL_IPV4, address)
    return address in _GLOBAL_UNICAST and not _is_in(_SPECIAL_IPV6, address)


def _addresses(host: str) -> tuple[_Address, ...]:
    """Return a literal address and the IPv4 addresses embedded in it; none for a name."""
    address = _address(host.strip("[]").rstrip(".").partition("%")[0])
    if address is None or isinstance(address, IPv4Address):
        return () if address is None else (address,)
    if address.ipv4_mapped is not None:
        return (address.ipv4_mapped,)
    if address in _NAT64:
        return (_last_32_bits(address),)
    if _is_in(_ENDING_IN_IPV4, address) and address not in _PLAIN:
        return (address, _last_32_bits(address))
    # RFC 3056 §2, RFC 4380 §4: a relay connects to the embedded IPv4 address.
    embedded = (address.sixtofour, *(address.teredo or ()))
    return (address, *(other for other in embedded if other is not None))


def _last_32_bits(address: IPv6Address) -> IPv4Address:
    return IPv4Address(int(address) & 0xFFFFFFFF)


def _address(host: str) -> _Address | None:
    try:
        return ip_address(host)
    except ValueError:
        pass
    try:
        # Other notations of an IPv4 address that resolvers accept: `127.1`, `2130706433`, `0x7f.1`.
        return IPv4Address(socket.inet_aton(host))
    except OSError:
        return None
