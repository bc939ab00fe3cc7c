"""A library with the issuer that the README prints, against a server with the README's configuration."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from authlib.integrations.requests_client import OAuth2Session
from joserfc import jwt
from joserfc.jwk import KeySet

from tests.docs.markdown import ROOT, blocks
from tests.people.person import Arrival, Person
from tests.people.provider import Provider
from tests.relying_parties.test_node import run
from tests.server_process import server_process

USUAL_PORT = ":8080/"
VERIFIER = "a-verifier-of-forty-three-characters-or-more-00"


@dataclass(frozen=True)
class Newcomer:
    """The README's issuer, and the client and user of its configuration."""

    provider: Provider
    client: dict[str, Any]
    user: dict[str, str]

    @property
    def redirect_uri(self) -> str:
        return str(self.client["redirect_uris"][0])


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Newcomer]:
    """Start a server with the README's configuration, at a free port instead of the usual one."""
    (text,) = blocks("README.md", "toml")
    file = tmp_path_factory.mktemp("readme") / "gnomon.toml"
    file.write_text(text)
    (issuer,) = re.findall(r"the issuer `([^`]+)`", (ROOT / "README.md").read_text())
    bootstrap = tomllib.loads(text)["bootstrap"]
    with server_process("--config", str(file)) as addresses:
        port = addresses.http.rpartition(":")[2]
        provider = Provider(issuer.replace(USUAL_PORT, f":{port}/"))
        yield Newcomer(provider, bootstrap["clients"][0], bootstrap["users"][0])


@pytest.fixture
def person(newcomer: Newcomer) -> Iterator[Person]:
    somebody = Person(newcomer.provider.issuer, newcomer.user["email"], newcomer.user["password"])
    yield somebody
    somebody.close()


def test_a_library_that_compares_issuers_signs_a_person_in(
    newcomer: Newcomer, person: Person, node: Path
) -> None:
    signed_in = run(
        node,
        "openid_client",
        "code",
        client=newcomer.client["id"],
        provider=newcomer.provider,
        person=person,
        redirect_uri=newcomer.redirect_uri,
    )

    assert signed_in["claims"]["iss"] == newcomer.provider.issuer
    assert signed_in["userinfo"]["email"] == newcomer.user["email"]


def test_authlib_signs_a_person_in_with_what_discovery_says(newcomer: Newcomer, person: Person) -> None:
    metadata = newcomer.provider.metadata
    with OAuth2Session(
        newcomer.client["id"],
        scope="openid email",
        redirect_uri=newcomer.redirect_uri,
        token_endpoint_auth_method="none",
        code_challenge_method="S256",
    ) as session:
        url, state = session.create_authorization_url(
            str(metadata["authorization_endpoint"]), code_verifier=VERIFIER
        )
        arrival = person.sign_in(url)
        tokens = session.fetch_token(
            str(metadata["token_endpoint"]),
            authorization_response=arrival.url,
            state=state,
            code_verifier=VERIFIER,
        )

    keys = KeySet.import_key_set(session.get(str(metadata["jwks_uri"]), withhold_token=True).json())
    claims = jwt.decode(tokens["id_token"], keys).claims
    assert metadata["issuer"] == newcomer.provider.issuer
    assert (claims["iss"], claims["email"]) == (newcomer.provider.issuer, newcomer.user["email"])


def test_a_person_who_opens_the_address_of_the_machine_signs_in_all_the_same(
    newcomer: Newcomer, person: Person
) -> None:
    person.browser.headers["Accept"] = "text/html"
    request = (
        f"oidc/authorize?client_id={newcomer.client['id']}&redirect_uri={newcomer.redirect_uri}"
        "&response_type=code&scope=openid&code_challenge_method=S256"
        "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    )

    arrival = person.sign_in(newcomer.provider.issuer.replace("localhost", "127.0.0.1") + request)

    assert isinstance(arrival, Arrival)
    assert arrival.url.startswith(newcomer.redirect_uri)
    assert arrival.parameters["iss"] == newcomer.provider.issuer
    assert "code" in arrival.parameters
