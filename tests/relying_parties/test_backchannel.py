"""A relying party asks for a user who is elsewhere, and polls until the user has approved."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.edge.oidc.tenants.test_backchannel_authentication import CIBA, decided
from tests.people.person import SECONDS, Person
from tests.people.provider import Provider
from tests.people.provider import provider as running
from tests.relying_parties.test_directory import administrator_of
from tests.relying_parties.test_node import run


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    """A provider whose client `confidential` may ask for users."""
    with running() as started:
        client = {
            "id": "confidential",
            "name": "The Application",
            "confidential": True,
            "redirect_uris": [],
            "enabled": True,
            "flows_enabled": [CIBA],
            "scopes": ["openid", "email"],
            "default_scopes": ["openid"],
            "challenges": ["S256"],
        }
        changed = administrator_of(started).put(
            f"{started.issuer}clients/confidential", json=client, timeout=SECONDS
        )
        assert changed.status_code == requests.codes.ok, changed.text
        yield started


def test_a_library_polls_until_the_user_has_approved(node: Path, provider: Provider, person: Person) -> None:
    found = run(
        node,
        "openid_client",
        "backchannel",
        client="confidential",
        provider=provider,
        person=person,
        visited=approved,
    )

    assert found["claims"]["aud"] == "confidential"
    assert found["userinfo"]["email"] == person.email


def approved(person: Person, url: str) -> str:
    assert "Request approved" in decided(person, "accept").words
    return url
