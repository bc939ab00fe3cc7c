"""A directory server for the tests of this folder, and a provider whose tenant uses it."""

from collections.abc import Iterator

import pytest

from tests.slapd import ALICE, SLAPD, Slapd, group, person, slapd

WITHOUT_SLAPD = "slapd of OpenLDAP is not installed"


@pytest.fixture(scope="session")
def server() -> Iterator[Slapd]:
    if not SLAPD:
        pytest.skip(WITHOUT_SLAPD)
    with slapd() as running:
        running.add(person("alice", "wonderland", givenName="Alice"))
        running.add(person("bob", "builder"))
        running.add(group("staff", ALICE))
        yield running
