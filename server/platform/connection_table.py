"""Open connections of a listener, bounded in total and for each remote host.

At a bound, a connection that waits for a request is closed for the new one: first those that never had a request, the
oldest first, then the one that has waited longest since its last request. A connection with a running request is never
closed; if all have one, the new connection is refused.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_network
from itertools import chain
from typing import Protocol

from server.platform.networks import Address, Networks

# RFC 6177: a site has a /64 at least, so its hosts count as one.
_SITE_PREFIX = 64


class Evictable(Protocol):
    """The part of a connection that the table uses."""

    def give_way(self) -> None:
        """Close, because the place is needed."""
        ...


@dataclass(slots=True)
class _Bounded:
    """Connections that share a bound.

    `unused` had no request yet, `waiting` none since their last one; both in the order of waiting.
    """

    most: int
    count: int = 0
    unused: dict[Evictable, None] = field(default_factory=dict)
    waiting: dict[Evictable, None] = field(default_factory=dict)

    def forget(self, connection: Evictable) -> None:
        self.unused.pop(connection, None)
        self.waiting.pop(connection, None)


class ConnectionTable:
    """`exempt` networks, which are those of trusted proxies, have no bound per host."""

    def __init__(self, *, most: int, most_of_host: int, exempt: Networks) -> None:
        self._all = _Bounded(most)
        self._most_of_host = most_of_host
        self._exempt = exempt
        self._hosts: dict[Hashable, _Bounded] = {}
        self._places: dict[Evictable, _Place] = {}

    def __len__(self) -> int:
        return self._all.count

    @property
    def most(self) -> int:
        return self._all.most

    @property
    def waiting(self) -> int:
        """Number of connections without a running request."""
        return len(self._all.unused) + len(self._all.waiting)

    def admit(self, connection: Evictable, address: Address | None) -> bool:
        """Add a new connection, which waits for its first request; False when a bound refuses it."""
        place = self._place(address)
        if not all(self._has_room(bounded) for bounded in place.bounds):
            return False
        self._places[connection] = place
        for bounded in place.bounds:
            bounded.count += 1
            bounded.unused[connection] = None
        if place.host is not None:
            self._hosts[place.host] = place.bounds[0]
        return True

    def begin(self, connection: Evictable) -> None:
        """Record that a request of the connection runs."""
        if connection in self._places:
            for bounded in self._places[connection].bounds:
                bounded.forget(connection)

    def end(self, connection: Evictable) -> None:
        """Record that the connection waits for its next request."""
        if connection in self._places:
            for bounded in self._places[connection].bounds:
                bounded.waiting[connection] = None

    def remove(self, connection: Evictable) -> None:
        """Remove a connection; no effect when it was removed already."""
        place = self._places.pop(connection, None)
        if place is None:
            return
        for bounded in place.bounds:
            bounded.count -= 1
            bounded.forget(connection)
        if place.host is not None and not place.bounds[0].count:
            self._hosts.pop(place.host, None)

    def _place(self, address: Address | None) -> "_Place":
        if address is None or address in self._exempt:
            return _Place(None, (self._all,))
        host = _host_of(address)
        return _Place(host, (self._hosts.get(host) or _Bounded(self._most_of_host), self._all))

    def _has_room(self, bounded: _Bounded) -> bool:
        """Close a waiting connection if the bound is reached; False when there is none."""
        if bounded.count < bounded.most:
            return True
        oldest = next(chain(bounded.unused, bounded.waiting), None)
        if oldest is None:
            return False
        self.remove(oldest)
        oldest.give_way()
        return True


@dataclass(frozen=True, slots=True)
class _Place:
    """The bounds that a connection counts towards: its host's, unless exempt, and the listener's."""

    host: Hashable
    bounds: tuple[_Bounded, ...]


def _host_of(address: Address) -> Hashable:
    if isinstance(address, IPv6Address):
        return ip_network((address, _SITE_PREFIX), strict=False)
    return address
