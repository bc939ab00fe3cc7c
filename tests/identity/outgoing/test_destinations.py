"""Where requests of ours may go."""

import socket
from dataclasses import dataclass

import pytest
from aiohttp import ClientConnectorError
from aiohttp.abc import AbstractResolver, ResolveResult

from identity.outgoing.destinations import (
    GuardedResolver,
    RefusedDestination,
    is_loopback,
    is_private,
    is_refused,
)
from identity.outgoing.http import guarded_session


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("169.254.169.254", True),
        ("100.100.100.200", True),
        ("0.0.0.0", True),  # noqa: S104  # nothing is bound
        ("224.0.0.1", True),
        ("fe80::1%eth0", True),
        ("fd00:ec2::254", True),
        ("::ffff:169.254.169.254", True),
        ("64:ff9b::a9fe:a9fe", True),
        ("::", True),
        ("127.0.0.1", False),
        ("10.0.0.1", False),
        ("192.0.2.1", False),
        ("2001:db8::1", False),
        ("example.com", False),
    ],
)
def test_which_addresses_are_nobodys_business(host: str, *, expected: bool) -> None:
    assert is_refused(host) == expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("localhost.", True),
        ("app.localhost", True),
        ("127.0.0.1", True),
        ("[::1]", True),
        ("::ffff:10.0.0.1", True),
        ("10.0.0.1", True),
        ("172.16.0.1", True),
        ("192.168.1.1", True),
        ("100.64.0.1", True),
        ("169.254.169.254", True),
        ("fd00::1", True),
        ("fe80::1%eth0", True),
        ("8.8.8.8", False),
        ("2606:4700::1111", False),
        ("example.com", False),
    ],
)
def test_which_addresses_are_somebodys_own(host: str, *, expected: bool) -> None:
    assert is_private(host) == expected


@dataclass
class NameServer(AbstractResolver):
    hosts: tuple[str, ...]

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=0)
            for address in self.hosts
        ]

    async def close(self) -> None:
        pass


async def test_a_name_is_what_it_resolves_to() -> None:
    resolver = GuardedResolver(is_refused, NameServer(("169.254.169.254", "192.0.2.1")))

    assert [result["host"] for result in await resolver.resolve("example.com")] == ["192.0.2.1"]


async def test_a_name_of_refused_addresses_alone_is_refused() -> None:
    resolver = GuardedResolver(is_refused, NameServer(("169.254.169.254",)))

    with pytest.raises(RefusedDestination):
        await resolver.resolve("example.com")


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("localhost", True),
        ("10.0.0.1", False),
        ("localhost.example.com", False),
    ],
)
def test_which_addresses_are_this_machine(host: str, *, expected: bool) -> None:
    assert is_loopback(host) == expected


async def test_a_session_connects_to_no_name_of_a_refused_address() -> None:
    async with guarded_session(5, is_loopback) as session:
        with pytest.raises(ClientConnectorError) as refusal:
            await session.get("http://localhost:1/")

    assert isinstance(refusal.value.os_error, RefusedDestination)
