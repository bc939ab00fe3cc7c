"""DNS queries to a nameserver on loopback."""

from collections.abc import AsyncIterator

import dns.rcode
import pytest

from identity.administration.tenants.domain_config import Nameserver, SignInDomainConfig
from identity.administration.tenants.txt_records import TxtRecords
from server.platform.errors import Unavailable
from tests.identity.administration.tenants import nameserver as loopback

NAME = "_gnomon-challenge.example.com"


@pytest.fixture
async def nameserver() -> AsyncIterator[loopback.Nameserver]:
    async with loopback.nameserver() as running:
        yield running


async def texts(nameserver: loopback.Nameserver) -> frozenset[bytes]:
    config = SignInDomainConfig(nameservers=(nameserver.address,), timeout_secs=1)
    return await TxtRecords(config).at(NAME)


async def test_texts_are_read_and_their_parts_put_together(nameserver: loopback.Nameserver) -> None:
    nameserver.texts[NAME] = ('"one"', '"in two" " parts"')

    assert await texts(nameserver) == {b"one", b"in two parts"}


async def test_a_name_that_is_not_there_or_has_no_texts_has_none(nameserver: loopback.Nameserver) -> None:
    of_nobody = await texts(nameserver)
    nameserver.texts[NAME] = ()

    assert of_nobody == await texts(nameserver) == frozenset()


async def test_a_nameserver_that_refuses_says_nothing_about_the_domain(
    nameserver: loopback.Nameserver,
) -> None:
    nameserver.rcode = dns.rcode.SERVFAIL

    with pytest.raises(Unavailable):
        await texts(nameserver)


async def test_silence_is_waited_for_no_longer_than_configured(nameserver: loopback.Nameserver) -> None:
    nameserver.is_silent = True

    with pytest.raises(Unavailable):
        await texts(nameserver)


@pytest.mark.parametrize(
    ("text", "address", "port"),
    [
        ("192.0.2.53", "192.0.2.53", 53),
        ("192.0.2.53:5353", "192.0.2.53", 5353),
        ("2001:db8::53", "2001:db8::53", 53),
        ("[2001:db8::53]:5353", "2001:db8::53", 5353),
    ],
)
def test_a_nameserver_is_an_address_with_or_without_a_port(text: str, address: str, port: int) -> None:
    assert Nameserver(address, port) == Nameserver.of(text)


@pytest.mark.parametrize("text", ["dns.example.com", "192.0.2.53:dns", "192.0.2.53:70000", ""])
def test_what_is_no_address_is_no_nameserver(text: str) -> None:
    with pytest.raises(ValueError, match="nameservers"):
        SignInDomainConfig(nameservers=(text,))


@pytest.mark.parametrize(
    "fields", [{"timeout_secs": 0}, {"timeout_secs": 31}, {"pending_days": 0}, {"pending_days": 91}]
)
def test_bounds_are_bounds(fields: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="expected 1 to"):
        SignInDomainConfig(**fields)  # type: ignore[arg-type]
