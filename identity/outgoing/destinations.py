"""Where requests of ours may go: addresses that belong to the machine's surroundings are none of a client's business.

Names are checked by what they resolve to at the moment of the connection, so that a name cannot change in between.
"""

import socket
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from aiohttp import DefaultResolver
from aiohttp.abc import AbstractResolver, ResolveResult

# Link-local addresses, where clouds keep the credentials of a machine, and those that do the same elsewhere.
_REFUSED = tuple(
    map(
        ip_network,
        (
            *("0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "255.255.255.255/32", "100.100.100.200/32"),
            *("::/128", "fe80::/10", "ff00::/8", "fd00:ec2::254/128", "64:ff9b::a9fe:0/112"),
        ),
    )
)


class RefusedDestination(OSError):
    """The address is none that requests of ours go to."""


class GuardedResolver(AbstractResolver):
    """Resolves names to addresses that are allowed; raises RefusedDestination when there is none."""

    def __init__(self, is_refused: Callable[[str], bool], resolver: AbstractResolver | None = None) -> None:
        self._is_refused = is_refused
        self._resolver = resolver or DefaultResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._resolver.resolve(host, port, family)
        allowed = [result for result in found if not self._is_refused(result["host"])]
        if not allowed:
            raise RefusedDestination("the name resolves to no address that requests may go to")
        return allowed

    async def close(self) -> None:
        await self._resolver.close()


def is_refused(host: str) -> bool:
    """Whether it is an address that no request may go to; a name is decided on when it is resolved."""
    address = _address(host)
    return address is not None and any(address in network for network in _REFUSED)


def is_loopback(host: str) -> bool:
    """Whether it is this machine itself, as an address or by the name that every machine has for itself."""
    address = _address(host)
    return host == "localhost" if address is None else address.is_loopback


def is_private(host: str) -> bool:
    """Whether it is written as an address of this machine or of somebody's own network; a name says nothing of it."""
    host = host.strip("[]").rstrip(".")
    address = _address(host)
    return host == "localhost" or host.endswith(".localhost") if address is None else not address.is_global


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        address: IPv4Address | IPv6Address = ip_address(host.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
