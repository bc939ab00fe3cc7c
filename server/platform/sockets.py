"""The addresses and the port of a listener.

`localhost` means both loopback addresses, whatever the resolver returns (RFC 6761 §6.3). Clients may try
either first, and a free one could be taken by another program. A listener therefore takes all addresses of
its host or none.
"""

import errno
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

LOCALHOST = "localhost"
LOOPBACK_ADDRESSES = ("127.0.0.1", "::1")
LOOPBACK = frozenset({LOCALHOST, *LOOPBACK_ADDRESSES})
_EVERYWHERE = frozenset({"", "0.0.0.0", "::"})  # noqa: S104  # recognized, not chosen
_TRIES = 100


class PortTaken(OSError):
    """Another program listens on the port; the message names the setting that changes the port."""

    def __init__(self, address: str, port: int, section: str) -> None:
        super().__init__(
            errno.EADDRINUSE,
            f"port {port} is in use at {address}: end the program that listens there, or choose another port with "
            f"{section}.port or GNOMON_{section.upper()}__PORT",
        )

    def __str__(self) -> str:
        return str(self.strerror)


def is_available(address: str) -> bool:
    """Whether the machine has the address."""
    try:
        _bound(address, 0).close()
    except OSError:
        return False
    return True


def listen_addresses(host: str, has: Callable[[str], bool] = is_available) -> Sequence[str]:
    """Return the listen addresses of a host; `localhost` has only one without IPv6."""
    if host != LOCALHOST:
        return (host,)
    return tuple(filter(has, LOOPBACK_ADDRESSES)) or LOOPBACK_ADDRESSES[:1]


def authority(host: str, port: int) -> str:
    """Return host:port in URL syntax (RFC 3986 §3.2.2)."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def public_host(host: str) -> str:
    """Return the host name under which clients on this machine reach a listener."""
    return LOCALHOST if host in _EVERYWHERE else host


def free_port(host: str) -> int:
    """Return a port that is free on all addresses of the host; raises OSError."""
    first, *others = listen_addresses(host)
    for _ in range(_TRIES):
        with _bound(first, 0) as reserved:
            port: int = reserved.getsockname()[1]
            if all(_is_free(address, port) for address in others):
                return port
    raise OSError(errno.EADDRINUSE, f"no port is free at all addresses of {host}")


@contextmanager
def reserved_port(host: str) -> Iterator[int]:
    """Reserve a free port for the duration of the block.

    Listeners with `reuse_port` share it; the reservation itself receives no connections.
    """
    addresses = listen_addresses(host)
    for _ in range(_TRIES):
        with ExitStack() as reservations:
            first = reservations.enter_context(_reservation(addresses[0], 0))
            port: int = first.getsockname()[1]
            try:
                for address in addresses[1:]:
                    reservations.enter_context(_reservation(address, port))
            except OSError:
                continue
            yield port
            return
    raise OSError(errno.EADDRINUSE, f"no port is free at all addresses of {host}")


def expect_free(host: str, port: int, *, section: str, reuse_port: bool = False) -> None:
    """Raise PortTaken if another program listens on the port; `section` is the configuration section of the port.

    With `reuse_port`, processes of one deployment may share the port.
    """
    for address in listen_addresses(host):
        try:
            _bound(address, port, reuse_port=reuse_port).close()
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise PortTaken(address, port, section) from error
            raise


def _reservation(address: str, port: int) -> socket.socket:
    """Reserve a port without SO_REUSEADDR, which would share it with another program's socket that does not yet listen."""
    return _bound(address, port, reuse_port=True, reuse_address=False)


def _is_free(address: str, port: int) -> bool:
    try:
        _bound(address, port).close()
    except OSError:
        return False
    return True


def _bound(address: str, port: int, *, reuse_port: bool = False, reuse_address: bool = True) -> socket.socket:
    """Bind without listening, so that no connection arrives."""
    family, kind, protocol, _, place = socket.getaddrinfo(
        address or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    probe = socket.socket(family, kind, protocol)
    try:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, int(reuse_address))
        if reuse_port:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        probe.bind(place)
    except OSError:
        probe.close()
        raise
    return probe
