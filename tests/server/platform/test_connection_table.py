"""The table of connections on its own."""

from dataclasses import dataclass

import pytest

from server.platform.connection_table import ConnectionTable
from server.platform.networks import Networks, address_of


@dataclass(eq=False)
class Place:
    """A connection as the table sees it."""

    is_open: bool = True

    def give_way(self) -> None:
        self.is_open = False


def table(*, most: int = 100, most_of_host: int = 100, exempt: tuple[str, ...] = ()) -> ConnectionTable:
    return ConnectionTable(most=most, most_of_host=most_of_host, exempt=Networks(exempt))


def busy(table: ConnectionTable, address: str) -> Place | None:
    place = Place()
    if not table.admit(place, address_of(address)):
        return None
    table.begin(place)
    return place


def test_the_connection_that_waits_longest_gives_way() -> None:
    connections = table(most=3)
    first, second, third, fourth = (Place() for _ in range(4))
    for place in (first, second, third):
        connections.admit(place, address_of("192.0.2.1"))
    connections.begin(first)
    connections.end(first)

    is_admitted = connections.admit(fourth, address_of("192.0.2.2"))

    assert is_admitted
    assert [first.is_open, second.is_open, third.is_open] == [True, False, True]
    assert (len(connections), connections.waiting) == (3, 3)


def test_connections_without_any_request_give_way_before_those_that_had_one() -> None:
    connections = table(most=3)
    used, first, second, new = (Place() for _ in range(4))
    connections.admit(used, address_of("192.0.2.1"))
    connections.begin(used)
    connections.end(used)
    for place in (first, second):
        connections.admit(place, address_of("192.0.2.2"))

    connections.admit(new, address_of("192.0.2.3"))

    assert [used.is_open, first.is_open, second.is_open, new.is_open] == [True, False, True, True]


def test_of_a_host_at_its_bound_its_own_connection_gives_way() -> None:
    connections = table(most_of_host=1)
    other, own, new = Place(), Place(), Place()
    connections.admit(other, address_of("192.0.2.1"))
    connections.admit(own, address_of("192.0.2.2"))

    is_admitted = connections.admit(new, address_of("192.0.2.2"))

    assert is_admitted
    assert [other.is_open, own.is_open] == [True, False]
    assert busy(connections, "192.0.2.2") is not None
    assert not new.is_open


def test_connections_with_a_request_under_way_do_not_give_way() -> None:
    connections = table(most_of_host=2)
    busy(connections, "192.0.2.1")
    busy(connections, "192.0.2.1")

    assert busy(connections, "192.0.2.1") is None
    assert busy(connections, "192.0.2.2") is not None


@pytest.mark.parametrize(
    ("first", "second", "is_one_host"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
    ],
)
def test_a_host_is_an_ipv4_address_or_an_ipv6_network(first: str, second: str, is_one_host: bool) -> None:  # noqa: FBT001
    connections = table(most_of_host=1)
    busy(connections, first)

    assert is_one_host == (busy(connections, second) is None)


def test_trusted_proxies_count_towards_the_whole_alone() -> None:
    connections = table(most=3, most_of_host=1, exempt=("10.0.0.0/8",))

    admitted = [busy(connections, "10.1.2.3") for _ in range(4)]

    assert [place is not None for place in admitted] == [True, True, True, False]


def test_a_connection_without_an_address_counts_towards_the_whole() -> None:
    connections = table(most=1)

    assert busy(connections, "") is not None
    assert busy(connections, "") is None


def test_a_connection_that_ended_leaves_nothing_behind() -> None:
    connections = table(most=1, most_of_host=1)
    place = Place()
    connections.admit(place, address_of("192.0.2.1"))

    connections.remove(place)
    connections.remove(place)
    connections.begin(place)
    connections.end(place)

    assert (len(connections), connections.waiting) == (0, 0)
    assert busy(connections, "192.0.2.1") is not None
