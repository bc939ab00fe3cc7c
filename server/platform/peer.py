"""The other end of a call's connection."""

import re
from dataclasses import dataclass
from urllib.parse import unquote

_IPV4 = re.compile(r"ipv4:([\d.]+):\d+")
_IPV6 = re.compile(r"ipv6:\[([0-9a-fA-F:.]+)(?:%[^\]]*)?\]:\d+")


@dataclass(frozen=True, slots=True)
class Peer:
    """A peer: `address` is its IP address, empty inside the process. An edge speaks for other callers."""

    address: str = ""
    is_edge: bool = False


UNKNOWN = Peer()
# An edge in this process.
LOCAL_EDGE = Peer(is_edge=True)


def address_of(grpc_peer: str) -> str:
    """Return the IP address in gRPC's peer name, such as `ipv4:192.0.2.1:4711` or `ipv6:%5B::1%5D:4711`."""
    found = _IPV4.fullmatch(grpc_peer) or _IPV6.fullmatch(unquote(grpc_peer))
    return found[1] if found else ""
