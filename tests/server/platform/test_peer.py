import pytest

from server.platform.peer import address_of


@pytest.mark.parametrize(
    ("address", "grpc_peer"),
    [
        ("192.0.2.1", "ipv4:192.0.2.1:4711"),
        ("2001:db8::1", "ipv6:%5B2001:db8::1%5D:4711"),
        ("::1", "ipv6:[::1]:4711"),
        ("fe80::1", "ipv6:%5Bfe80::1%25eth0%5D:4711"),
        ("", "unix:/run/gnomon.sock"),
        ("", "unknown"),
    ],
)
def test_the_address_of_a_peer_is_that_of_its_connection(address: str, grpc_peer: str) -> None:
    assert address == address_of(grpc_peer)
