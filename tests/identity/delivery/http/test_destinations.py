"""Destinations of outgoing requests."""

import socket
from contextlib import nullcontext
from dataclasses import dataclass

import pytest
from aiohttp import ClientConnectorError
from aiohttp.abc import AbstractResolver, ResolveResult

from identity.delivery.http.config import OutgoingConfig
from identity.delivery.http.destinations import (
    Destinations,
    GuardedResolver,
    RefusedDestination,
    is_loopback,
    is_never,
)
from identity.delivery.http.registered_uris import expect_reachable
from identity.delivery.http.sessions import guarded_session
from server.platform.errors import InvalidArgument

PUBLIC = Destinations()


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("localhost.", True),
        ("app.localhost", True),
        ("127.0.0.1", True),
        ("127.0.0.1.", True),
        ("127.1", True),
        ("2130706433", True),
        ("0x7f.0.0.1", True),
        ("[::1]", True),
        ("::127.0.0.1", True),
        ("::ffff:10.0.0.1", True),
        ("10.0.0.1", True),
        ("172.16.0.1", True),
        ("192.168.1.1", True),
        ("100.64.0.1", True),
        ("169.254.169.254", True),
        ("100.100.100.200", True),
        ("0.0.0.0", True),  # noqa: S104  # nothing is bound
        ("224.0.1.1", True),
        ("fd00::1", True),
        ("fe80::1%eth0", True),
        ("fec0::1", True),
        ("fd00:ec2::254", True),
        ("::ffff:169.254.169.254", True),
        ("64:ff9b::10.0.0.1", True),
        ("64:ff9b::a9fe:a9fe", True),
        ("2002:a00:1::", True),
        ("::", True),
        ("8.8.8.8", False),
        ("64:ff9b::8.8.8.8", False),
        ("2606:4700::1111", False),
        ("example.com", False),
    ],
)
def test_requests_go_to_public_addresses_only(host: str, *, expected: bool) -> None:
    assert PUBLIC.is_refused(host) == expected


# One address of each row of the registries of IANA for special purposes, and of what addresses of IPv6 embed.
SPECIAL = {
    "this network": "0.1.2.3",
    "private use of 10": "10.255.255.255",
    "shared address space": "100.127.255.255",
    "loopback": "127.255.255.254",
    "link-local": "169.254.0.1",
    "private use of 172": "172.31.255.255",
    "IETF protocol assignments": "192.0.0.192",
    "IPv4 service continuity": "192.0.0.1",
    "IPv4 dummy address": "192.0.0.8",
    "port control protocol": "192.0.0.9",
    "TURN": "192.0.0.10",
    "NAT64 discovery": "192.0.0.170",
    "DNS64 discovery": "192.0.0.171",
    "documentation 1": "192.0.2.1",
    "AS112": "192.31.196.1",
    "AMT": "192.52.193.1",
    "6to4 relay": "192.88.99.1",
    "6a44 relay": "192.88.99.2",
    "private use of 192": "192.168.255.255",
    "direct delegation of AS112": "192.175.48.1",
    "benchmarking": "198.19.255.255",
    "documentation 2": "198.51.100.1",
    "documentation 3": "203.0.113.1",
    "multicast": "239.255.255.255",
    "reserved": "240.0.0.1",
    "limited broadcast": "255.255.255.255",
    "loopback of IPv6": "::1",
    "unspecified": "::",
    "IPv4-mapped": "::ffff:192.0.0.8",
    "IPv4-compatible": "::8.8.8.8",
    "NAT64 of a special address": "64:ff9b::192.88.99.1",
    "local NAT64": "64:ff9b:1::8.8.8.8",
    "discard only": "100::1",
    "dummy prefix": "100:0:0:1::1",
    "IETF protocol assignments of IPv6": "2001:1ff::1",
    "Teredo": "2001::1",
    "port control protocol of IPv6": "2001:1::1",
    "TURN of IPv6": "2001:1::2",
    "service registration": "2001:1::3",
    "benchmarking of IPv6": "2001:2::1",
    "AMT of IPv6": "2001:3::1",
    "AS112 of IPv6": "2001:4:112::1",
    "ORCHID": "2001:10::1",
    "ORCHIDv2": "2001:20::1",
    "drone identifiers": "2001:30::1",
    "documentation of IPv6": "2001:db8::1",
    "6to4 of a private address": "2002:a00:1::1",
    "6to4 of a public address": "2002:808:808::1",
    "direct delegation of AS112 of IPv6": "2620:4f:8000::1",
    "new documentation of IPv6": "3fff::1",
    "end of new documentation of IPv6": "3fff:fff:ffff::1",
    "segment routing": "5f00::1",
    "unique local": "fdff::1",
    "site-local": "fec0::1",
    "link-local of IPv6": "febf::1",
    "multicast of IPv6": "ff0e::1",
}


@pytest.mark.parametrize("host", SPECIAL.values(), ids=SPECIAL)
def test_addresses_for_special_purposes_are_refused(host: str) -> None:
    assert PUBLIC.is_refused(host)


@pytest.mark.parametrize(
    "host",
    [
        *("1.1.1.1", "100.63.255.255", "100.128.0.1", "172.32.0.1", "192.0.1.1", "192.88.98.255"),
        *("198.17.255.255", "198.20.0.1", "223.255.255.255", "::ffff:8.8.8.8", "64:ff9b::1.1.1.1"),
        *("2001:200::1", "2001:db9::1", "2003::1", "2a00:1450::1", "3fff:1000::1"),
    ],
)
def test_neighbours_of_special_addresses_are_public(host: str) -> None:
    assert not PUBLIC.is_refused(host)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        *(("127.0.0.1", False), ("localhost", False), ("::ffff:127.0.0.1", False), ("10.1.2.3", False)),
        *(("[::1]", True), ("10.2.0.1", True), ("192.168.1.1", True), ("8.8.8.8", False)),
    ],
)
def test_an_allowed_network_is_allowed_and_no_other_one(host: str, *, expected: bool) -> None:
    destinations = Destinations.of(OutgoingConfig(allowed_networks=("127.0.0.0/8", "10.1.0.0/16")))

    assert destinations.is_refused(host) == expected


@pytest.mark.parametrize(
    "host",
    [
        *("169.254.169.254", "100.100.100.200", "224.0.0.1", "fe80::1", "fd00:ec2::254"),
        *("::ffff:169.254.169.254", "::169.254.169.254", "64:ff9b::169.254.169.254"),
        *("64:ff9b:1::169.254.169.254", "2002:a9fe:a9fe::1", "2001:0:808:808::5601:5601"),
    ],
)
def test_credentials_of_machines_stay_refused_in_an_allowed_network(host: str) -> None:
    destinations = Destinations.of(OutgoingConfig(allowed_networks=("0.0.0.0/0", "::/0")))

    assert destinations.is_refused(host)
    assert is_never(host)


@pytest.mark.parametrize(
    ("uri", "is_refused"),
    [
        *(("", False), ("https://example.com/keys", False), ("http://10.0.0.1/logout", False)),
        *(("https://10.0.0.1/", True), ("http://localhost:3000/", True), ("https://10.0.0.1/a#b", True)),
    ],
)
def test_an_address_is_refused_when_it_is_registered_unless_the_configuration_has_it(
    uri: str, *, is_refused: bool
) -> None:
    destinations = Destinations.of(OutgoingConfig(), ["http://10.0.0.1/logout", ""])

    with pytest.raises(InvalidArgument, match=r"outgoing\.allowed_networks") if is_refused else nullcontext():
        expect_reachable("jwks_uri", uri, destinations)


@pytest.mark.parametrize("networks", [("10.0.0.1/8",), ("here",), ("10.0.0.0/8",) * 257])
def test_a_section_that_makes_no_sense_is_refused(networks: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"outgoing\.allowed_networks: expected"):
        OutgoingConfig(allowed_networks=networks)


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
    resolver = GuardedResolver(PUBLIC.is_refused, NameServer(("10.0.0.1", "8.8.8.8")))

    assert [result["host"] for result in await resolver.resolve("example.com")] == ["8.8.8.8"]


async def test_a_name_of_refused_addresses_alone_is_refused() -> None:
    resolver = GuardedResolver(PUBLIC.is_refused, NameServer(("127.0.0.1", "169.254.169.254", "fd00::1")))

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
    async with guarded_session(5, PUBLIC.is_refused) as session:
        with pytest.raises(ClientConnectorError) as refusal:
            await session.get("http://localhost:1/")

    assert isinstance(refusal.value.os_error, RefusedDestination)
