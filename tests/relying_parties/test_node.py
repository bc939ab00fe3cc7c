"""Relying party libraries for Node run their flows against the running provider."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.people.person import Arrival, Person
from tests.people.provider import POST_LOGOUT_REDIRECT_URI, REDIRECT_URI, SECRET, Provider
from tests.server_process import killed_at_the_end

FLOW_SECONDS = 60
LIBRARIES = ("openid_client", "oauth4webapi", "oidc_client_ts")
CLIENTS = {"confidential": SECRET, "public": ""}


def _visited(person: Person, url: str) -> str:
    if "/device" in url:
        person.let_device_in(url)
        return url
    arrival = person.sign_in(url)
    assert isinstance(arrival, Arrival)
    return arrival.url


def run(
    node: Path,
    library: str,
    flow: str,
    *,
    client: str,
    provider: Provider,
    person: Person,
    visited: Callable[[Person, str], str] = _visited,
    redirect_uri: str = REDIRECT_URI,
) -> Any:
    """Return the library's result of the flow; the user visits every address that the library returns."""
    config = {
        "issuer": provider.issuer,
        "clientId": client,
        "clientSecret": CLIENTS.get(client, ""),
        "redirectUri": redirect_uri,
        "postLogoutRedirectUri": POST_LOGOUT_REDIRECT_URI,
    }
    command = ["node", "driver.mjs", library, flow, json.dumps(config)]
    process = subprocess.Popen(command, cwd=node, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with killed_at_the_end(process):
        assert process.stdin is not None
        assert process.stdout is not None
        for line in process.stdout:
            message = json.loads(line)
            if "visit" not in message:
                assert "error" not in message, message
                return message["result"]
            process.stdin.write(json.dumps(visited(person, message["visit"])) + "\n")
            process.stdin.flush()
    raise AssertionError("the library said nothing")


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_person_signs_in(
    node: Path, library: str, client: str, *, provider: Provider, person: Person
) -> None:
    if library == "oidc_client_ts" and client == "confidential":
        client = "public"

    signed_in = run(node, library, "code", client=client, provider=provider, person=person)

    assert signed_in["claims"]["iss"] == provider.issuer
    assert signed_in["userinfo"]["sub"] == signed_in["claims"]["sub"]
    assert signed_in["userinfo"]["email"] == person.email
    assert signed_in["userinfo"]["given_name"] == "Alice"


@pytest.mark.parametrize(
    ("library", "client"),
    [
        ("openid_client", "confidential"),
        ("openid_client", "public"),
        ("oauth4webapi", "public"),
        ("oidc_client_ts", "public"),
    ],
)
def test_tokens_are_refreshed(
    node: Path, library: str, client: str, *, provider: Provider, person: Person
) -> None:
    refreshed = run(node, library, "refresh", client=client, provider=provider, person=person)

    assert refreshed["rotated"]
    assert refreshed["after"]["sub"] == refreshed["before"]["sub"]


@pytest.mark.parametrize("library", ["openid_client", "oauth4webapi"])
@pytest.mark.parametrize("client", CLIENTS)
def test_tokens_are_bound_to_a_key(
    node: Path, library: str, client: str, *, provider: Provider, person: Person
) -> None:
    bound = run(node, library, "dpop", client=client, provider=provider, person=person)

    assert bound["type"].lower() == "dpop"
    assert bound["userinfo"]["email"] == person.email


@pytest.mark.parametrize("library", ["openid_client", "oauth4webapi"])
def test_tokens_are_taken_back(node: Path, library: str, *, provider: Provider, person: Person) -> None:
    taken = run(node, library, "revocation", client="confidential", provider=provider, person=person)

    assert taken["before"]["active"]
    assert taken["before"]["client_id"] == "confidential"
    assert taken["after"] == {"active": False}


@pytest.mark.parametrize("library", ["openid_client", "oauth4webapi"])
def test_a_service_gets_a_token(node: Path, library: str, *, provider: Provider, person: Person) -> None:
    issued = run(node, library, "machine", client="confidential", provider=provider, person=person)

    assert issued == {"type": "bearer", "refresh": None, "id": None}


@pytest.mark.parametrize("library", ["openid_client", "oauth4webapi"])
@pytest.mark.parametrize("client", CLIENTS)
def test_a_device_is_let_in(
    node: Path, library: str, client: str, *, provider: Provider, person: Person
) -> None:
    let_in = run(node, library, "device", client=client, provider=provider, person=person)

    assert let_in["claims"]["aud"] in (client, [client])
    assert let_in["refresh"] == "string"


def test_a_request_is_pushed(node: Path, *, provider: Provider, person: Person) -> None:
    pushed = run(node, "openid_client", "pushed", client="confidential", provider=provider, person=person)

    assert pushed["claims"]["iss"] == provider.issuer


def test_the_issuer_is_found_by_the_rules_of_oauth_alone(
    node: Path, *, provider: Provider, person: Person
) -> None:
    found = run(node, "oauth4webapi", "plain", client="public", provider=provider, person=person)

    assert found["claims"]["iss"] == provider.issuer


@pytest.mark.parametrize("library", ["openid_client", "oidc_client_ts"])
def test_a_person_signs_out(node: Path, library: str, *, provider: Provider, person: Person) -> None:
    out = run(node, library, "logout", client="public", provider=provider, person=person)

    assert out == {"back": POST_LOGOUT_REDIRECT_URI, "state": "bye"}
