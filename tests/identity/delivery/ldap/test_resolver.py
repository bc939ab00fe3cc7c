"""Names of directory servers."""

import socket

import pytest

from identity.delivery.ldap.resolver import DirectoryResolver


@pytest.mark.parametrize(
    ("host", "address"), [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("localhost", "127.0.0.1")]
)
async def test_addresses_and_names_are_resolved(host: str, address: str) -> None:
    resolver = DirectoryResolver()

    found = await resolver.resolve(host, 636, socket.AF_UNSPEC)
    await resolver.close()

    assert address in [each["host"] for each in found]
    assert {each["port"] for each in found} == {636}


async def test_a_name_without_an_address_is_an_error() -> None:
    resolver = DirectoryResolver()

    with pytest.raises(OSError, match=r"."):
        await resolver.resolve("no name", 636)
    await resolver.close()
