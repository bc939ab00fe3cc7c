"""A relying party registers dynamically, and signs its authorization requests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.people.person import Page, Person
from tests.people.provider import Provider
from tests.people.provider import provider as running
from tests.relying_parties.test_node import run


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with running(extra="\n[dynamic_clients]\nenabled = true\n") as started:
        yield started


def let_in(person: Person, url: str) -> str:
    """Sign in and consent, and return the final address."""
    found = person.visit(url)
    if isinstance(found, Page):
        found = person.submit(found)
    if isinstance(found, Page):
        assert "The Application That Came By Itself" in found.words
        found = person.answer(found, "accept")
    assert not isinstance(found, Page)
    return found.url


def test_a_library_registers_and_signs_its_requests(node: Path, provider: Provider, person: Person) -> None:
    found = run(
        node,
        "openid_client",
        "registered",
        client="public",
        provider=provider,
        person=person,
        visited=let_in,
    )

    client_id = found["metadata"]["client_id"]
    assert [found[way]["aud"] for way in ("signed", "pushed")] == [client_id, client_id]
    assert found["signed"]["sub"] == found["pushed"]["sub"]
    assert found["read"].items() <= found["metadata"].items()
    assert "client_secret" not in found["read"]
