"""A setting of a client is declared in the contract and in the record, and otherwise stands where it has a meaning."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gnomon.identity.v1 import client_service_pb2, dynamic_client_service_pb2

ROOT = Path(__file__).parents[2]
WRITTEN = ("proto", "server", "identity", "edge")
# They carry every setting, and name none.
CARRIERS = (
    "edge/oidc/access/message_json.py",
    "edge/oidc/clients/dynamic_registration.py",
    "edge/oidc/clients/registration_body.py",
    "identity/clients/rpc/client_messages.py",
    "identity/clients/rpc/dynamic_client.py",
)
# `claims` may be an empty object; the rest is what a new client has, and words that protocols use for more.
WITH_A_MEANING = {
    *("id", "name", "enabled", "confidential", "claims", "scope", "redirect_uris"),
    *("post_logout_redirect_uris", "response_types", "application_type"),
}


def _sources() -> Iterator[Path]:
    for folder in WRITTEN:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".proto"}:
                yield path


def _places(name: str) -> list[str]:
    word = re.compile(rf"\b{name}\b")
    return [str(path.relative_to(ROOT)) for path in _sources() if word.search(path.read_text())]


@pytest.mark.parametrize(
    "name", ["contacts", "access_token_typ", "assertion_providers", "frontchannel_logout_session_required"]
)
def test_a_setting_of_a_client_stands_in_four_places_at_most(name: str) -> None:
    places = _places(name)

    assert "identity/directory/client.py" in places
    assert len(places) <= 4, places


@pytest.mark.parametrize("path", CARRIERS)
def test_what_carries_settings_names_none_of_them(path: str) -> None:
    settings = {
        field.name
        for message in (client_service_pb2.Client, dynamic_client_service_pb2.ClientMetadata)
        for field in message.DESCRIPTOR.fields
    }

    words = set(re.findall(r"\w+", (ROOT / path).read_text()))

    assert words & (settings - WITH_A_MEANING) == set()
