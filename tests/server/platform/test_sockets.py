import socket
from collections.abc import Iterator

import pytest

from server.platform.sockets import (
    PortTaken,
    authority,
    expect_free,
    free_port,
    listen_addresses,
    public_host,
    reserved_port,
)


@pytest.fixture
def taken_port() -> Iterator[int]:
    """Open at the address of localhost that a client tries last."""
    *_, last = listen_addresses("localhost")
    family = socket.AF_INET6 if ":" in last else socket.AF_INET
    with socket.create_server((last, 0), family=family) as listener:
        yield listener.getsockname()[1]


@pytest.mark.parametrize(
    ("present", "expected"),
    [
        pytest.param({"127.0.0.1", "::1"}, ("127.0.0.1", "::1"), id="both families"),
        pytest.param({"127.0.0.1"}, ("127.0.0.1",), id="without IPv6"),
        pytest.param({"::1"}, ("::1",), id="without IPv4"),
    ],
)
def test_localhost_is_every_loopback_address_of_the_machine(
    present: set[str], expected: tuple[str, ...]
) -> None:
    assert listen_addresses("localhost", present.__contains__) == expected


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "0.0.0.0", "gnomon.example"])  # noqa: S104
def test_another_host_is_left_to_the_resolver(host: str) -> None:
    assert listen_addresses(host, set[str]().__contains__) == (host,)


def test_a_free_port_is_free_at_every_address() -> None:
    port = free_port("localhost")

    expect_free("localhost", port, section="edge")


def test_a_port_that_another_program_has_at_one_address_is_refused(taken_port: int) -> None:
    with pytest.raises(PortTaken) as refused:
        expect_free("localhost", taken_port, section="edge")

    assert f"port {taken_port} is in use" in str(refused.value)
    assert "edge.port or GNOMON_EDGE__PORT" in str(refused.value)


@pytest.mark.parametrize("address", listen_addresses("localhost"))
def test_a_reserved_port_is_for_listeners_that_share_it(address: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with reserved_port("localhost") as port:
        with pytest.raises(PortTaken):
            expect_free("localhost", port, section="edge")
        with (
            socket.create_server((address, port), family=family, reuse_port=True) as listener,
            socket.create_connection((address, port)),
        ):
            listener.settimeout(5)
            connection, _ = listener.accept()
            connection.close()

    expect_free("localhost", port, section="edge")


@pytest.mark.parametrize(
    ("host", "expected"), [("localhost", "localhost:80"), ("127.0.0.1", "127.0.0.1:80"), ("::1", "[::1]:80")]
)
def test_an_address_of_ipv6_is_in_brackets(host: str, expected: str) -> None:
    assert authority(host, 80) == expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [("0.0.0.0", "localhost"), ("::", "localhost"), ("127.0.0.1", "127.0.0.1"), ("a.example", "a.example")],  # noqa: S104
)
def test_a_listener_at_all_addresses_is_known_as_localhost(host: str, expected: str) -> None:
    assert public_host(host) == expected
