"""The other end of the connection that a call came over."""

import re
from dataclasses import dataclass
from urllib.parse import unquote

_IPV4 = re.compile(r"ipv4:([\d.]+):\d+")
_IPV6 = re.compile(r"ipv6:\[([0-9a-fA-F:.]+)(?:%[^\]]*)?\]:\d+")


@dataclass(frozen=True, slots=True)
class Peer:
    """`address` is the IP address of the connection, empty inside the process; an edge speaks for others."""

    address: str = ""
    is_edge: bool = False


UNKNOWN = Peer()
# An edge in this process.
LOCAL_EDGE = Peer(is_edge=True)


def address_of(grpc_peer: str) -> str:
    """Take the address out of gRPC's name of a peer, `ipv4:192.0.2.1:4711` or `ipv6:%5B::1%5D:4711`."""
    found = _IPV4.fullmatch(grpc_peer) or _IPV6.fullmatch(unquote(grpc_peer))
    return found[1] if found else ""
