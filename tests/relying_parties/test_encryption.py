"""A relying party registers with a key for encryption, and decrypts what it gets."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.people.person import Person
from tests.people.provider import Provider
from tests.people.provider import provider as running
from tests.relying_parties.test_node import run
from tests.relying_parties.test_registration import let_in


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with running(extra="\n[dynamic_clients]\nenabled = true\n") as started:
        yield started


def test_a_library_decrypts_responses_tokens_and_userinfo(
    node: Path, provider: Provider, person: Person
) -> None:
    found = run(
        node,
        "openid_client",
        "sealed",
        client="public",
        provider=provider,
        person=person,
        visited=let_in,
    )

    assert found["metadata"]["id_token_encrypted_response_alg"] == "RSA-OAEP-256"
    assert found["claims"]["aud"] == found["metadata"]["client_id"]
    assert found["userinfo"]["email"] == person.email
