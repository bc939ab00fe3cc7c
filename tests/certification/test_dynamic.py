"""oidcc-dynamic-certification-test-plan: what it asks beyond the Basic plan of a provider where clients register themselves.

Its modules about pages that a client names besides its own are of what is not offered.
"""

import itertools
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
import requests
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

from tests.certification.relying_party import RelyingParty, unsigned
from tests.people.person import SECONDS, Arrival, Page, Person
from tests.people.provider import EMAIL, PASSWORD, REDIRECT_URI, Provider
from tests.people.provider import provider as running

CONFIGURATION = """
[dynamic_clients]
enabled = true

[access]
trusted_proxies = ["127.0.0.0/8"]

[outgoing]
allowed_networks = ["127.0.0.0/8"]
"""
ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


class Obliging(Person):
    """Lets every client have what it asks for."""

    def submit(self, page: Page) -> Page | Arrival:
        found = super().submit(page)
        return self.answer(found, "accept") if isinstance(found, Page) else found


@dataclass
class Publisher:
    """Documents that a relying party publishes, by path."""

    origin: str
    documents: dict[str, str] = field(default_factory=dict)

    def publish(self, path: str, document: str) -> str:
        self.documents[path] = document
        return f"{self.origin}{path}"


@pytest.fixture(scope="module")
def publisher() -> Iterator[Publisher]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # as the library calls it
            document = published.documents.get(self.path)
            self.send_response(404 if document is None else 200)
            self.end_headers()
            self.wfile.write((document or "").encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        published = Publisher(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield published
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def key() -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": "rsa-1"})


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with running(extra=CONFIGURATION) as started:
        yield started


Register = Callable[..., requests.Response]


@pytest.fixture(scope="module")
def register(provider: Provider) -> Register:
    """Each from an address of its own."""
    addresses = itertools.count(1)

    def registered(**metadata: object) -> requests.Response:
        return requests.post(
            str(provider.metadata["registration_endpoint"]),
            json={"redirect_uris": [REDIRECT_URI]} | metadata,
            headers={"X-Forwarded-For": f"192.0.2.{next(addresses)}"},
            timeout=SECONDS,
        )

    return registered


@pytest.fixture
def person(provider: Provider) -> Iterator[Person]:
    person = Obliging(provider.issuer, EMAIL, PASSWORD)
    yield person
    person.close()


@dataclass
class Registered(RelyingParty):
    """Proves who it is with its key, when that is how it registered."""

    key: RSAKey | None = None

    def post(self, path: str, form: Mapping[str, str]) -> requests.Response:
        if self.method != "private_key_jwt" or self.key is None:
            return super().post(path, form)
        claims = {"iss": self.client_id, "sub": self.client_id, "aud": self.provider.issuer}
        claims |= {"jti": secrets.token_urlsafe(), "exp": int(time.time()) + 60}
        assertion = jwt.encode({"alg": "RS256", "kid": self.key.kid}, claims, self.key)
        proof = {"client_assertion_type": ASSERTION_TYPE, "client_assertion": assertion}
        return requests.post(f"{self.provider.issuer}{path}", data={**form, **proof}, timeout=SECONDS)

    def request_object(self, **members: object) -> str:
        """Its request object, signed as the suite does it: without `exp` and `typ`."""
        assert self.key is not None
        claims = {**self.asked, "iss": self.client_id, "aud": self.provider.issuer, **members}
        return jwt.encode({"alg": "RS256", "kid": self.key.kid}, claims, self.key)


Party = Callable[..., Registered]


@pytest.fixture
def party_of(provider: Provider, person: Person, register: Register, key: RSAKey) -> Party:
    """A relying party that has registered itself so."""

    def registered(**metadata: object) -> Registered:
        answer = register(**metadata)
        assert answer.status_code == requests.codes.created, answer.text
        client: Mapping[str, Any] = answer.json()
        return Registered(
            provider,
            person,
            client_id=client["client_id"],
            secret=client.get("client_secret", ""),
            method=client["token_endpoint_auth_method"],
            key=key,
        )

    return registered


def public(key: RSAKey) -> dict[str, object]:
    return {"keys": [key.as_dict(private=False)]}


@pytest.mark.parametrize(
    "alg", [pytest.param("RS256", id="oidcc-idtoken-rs256"), pytest.param(None, id="left out")]
)
def test_the_id_token_is_signed_as_it_was_registered(party_of: Party, alg: str | None) -> None:
    assert party_of(id_token_signed_response_alg=alg).signed_in().claims


def test_oidcc_userinfo_rs256(party_of: Party) -> None:
    party = party_of(userinfo_signed_response_alg="RS256")
    signed_in = party.signed_in()

    answer = requests.get(
        f"{party.provider.issuer}oidc/userinfo",
        headers={"Authorization": f"Bearer {signed_in.access_token}"},
        timeout=SECONDS,
    )

    assert answer.headers["Content-Type"].startswith("application/jwt")
    keys = KeySet.import_key_set(json.loads(party.provider.jwks))
    claims = jwt.decode(answer.text, keys, algorithms=["RS256"]).claims
    assert (claims["sub"], claims["aud"]) == (signed_in.claims["sub"], party.client_id)


def test_oidcc_ensure_redirect_uri_in_authorization_request(party_of: Party) -> None:
    party = party_of()

    outcome = party.person.visit(party.url(redirect_uri=None))

    assert isinstance(outcome, Page)
    assert outcome.status == requests.codes.bad_request


WITH_QUERY = f"{REDIRECT_URI}?foo=bar"


@pytest.mark.parametrize("redirect_uri", [pytest.param(WITH_QUERY, id="oidcc-redirect-uri-query-OK")])
def test_a_registered_query_is_kept(party_of: Party, redirect_uri: str) -> None:
    party = party_of(redirect_uris=[redirect_uri])

    arrival = party.person.sign_in(party.url(redirect_uri=redirect_uri))

    assert arrival.url.startswith(f"{redirect_uri}&")
    assert arrival.parameters["foo"] == "bar"
    assert party.exchange(arrival.parameters["code"], redirect_uri=redirect_uri).ok


@pytest.mark.parametrize(
    ("registered", "asked"),
    [
        pytest.param(WITH_QUERY, f"{REDIRECT_URI}?bar=foo", id="oidcc-redirect-uri-query-mismatch"),
        pytest.param(REDIRECT_URI, WITH_QUERY, id="oidcc-redirect-uri-query-added"),
    ],
)
def test_another_query_leads_nowhere(party_of: Party, registered: str, asked: str) -> None:
    party = party_of(redirect_uris=[registered])

    outcome = party.person.visit(party.url(redirect_uri=asked))

    assert isinstance(outcome, Page)
    assert outcome.status == requests.codes.bad_request


def test_oidcc_redirect_uri_regfrag(register: Register) -> None:
    answer = register(redirect_uris=[f"{REDIRECT_URI}#foobar"])

    assert answer.status_code == requests.codes.bad_request
    assert answer.json()["error"] == "invalid_redirect_uri"


def test_oidcc_registration_jwks_uri(party_of: Party, publisher: Publisher, key: RSAKey) -> None:
    jwks_uri = publisher.publish("/keys", json.dumps(public(key)))

    party = party_of(token_endpoint_auth_method="private_key_jwt", jwks_uri=jwks_uri)

    assert party.signed_in().claims


def test_oidcc_request_uri_signed_rs256(party_of: Party, publisher: Publisher, key: RSAKey) -> None:
    # The suite puts a fragment behind the address, which it does not serve.
    request_uri = f"{publisher.origin}/request#{secrets.token_urlsafe(8)}"
    party = party_of(jwks=public(key), request_uris=[request_uri], request_object_signing_alg="RS256")
    party.url()
    publisher.publish("/request", party.request_object())
    asked = dict(party.asked)

    outcome = party.person.visit(party.url(request_uri=request_uri, state=None, nonce=None))

    assert isinstance(outcome, Page)
    arrival = party.person.submit(outcome)
    assert isinstance(arrival, Arrival)
    party.asked = asked
    assert party.answered(party.succeeded(arrival)).claims


def test_a_signed_redirect_uri_goes_before_the_one_beside_it(party_of: Party, key: RSAKey) -> None:
    party = party_of(jwks=public(key))
    party.url()
    request, asked = party.request_object(), dict(party.asked)

    arrival = party.person.sign_in(party.url(request=request, redirect_uri="https://evil.example.com/"))

    party.asked = asked
    assert party.answered(party.succeeded(arrival)).claims


@pytest.mark.parametrize("parameter", ["request", "request_uri"])
def test_what_is_not_signed_is_refused_as_unsupported(
    party_of: Party, publisher: Publisher, key: RSAKey, *, parameter: str
) -> None:
    party = party_of(jwks=public(key), request_uris=[f"{publisher.origin}/unsigned"])
    party.url()
    request = unsigned({**party.asked, "iss": party.client_id})
    request_uri = publisher.publish("/unsigned", request)

    outcome = party.person.visit(party.url(**{parameter: {"request": request}.get(parameter, request_uri)}))

    assert party.failed(outcome) == f"{parameter}_not_supported"


def test_oidcc_refresh_token_rp_key_rotation(party_of: Party, publisher: Publisher, key: RSAKey) -> None:
    jwks_uri = publisher.publish("/rotated", json.dumps(public(key)))
    party = party_of(
        token_endpoint_auth_method="private_key_jwt",
        jwks_uri=jwks_uri,
        grant_types=["authorization_code", "refresh_token"],
    )
    signed_in = party.signed_in(scope="openid offline_access")
    fresh = RSAKey.generate_key(2048, {"kid": "rsa-2"})
    publisher.publish("/rotated", json.dumps(public(fresh)))

    refresh = {"grant_type": "refresh_token", "refresh_token": signed_in.tokens["refresh_token"]}
    refreshed = replace(party, key=fresh).post("oidc/token", refresh)

    assert refreshed.status_code == requests.codes.ok, refreshed.text


def sector(publisher: Publisher, *redirect_uris: str) -> dict[str, str]:
    uri = publisher.publish("/sector", json.dumps(redirect_uris))
    return {"subject_type": "pairwise", "sector_identifier_uri": uri}


def test_oidcc_registration_sector_uri(party_of: Party, publisher: Publisher) -> None:
    metadata = sector(publisher, REDIRECT_URI)

    first, sibling = party_of(**metadata).signed_in(), party_of(**metadata).signed_in()

    assert first.claims["sub"] == sibling.claims["sub"]
    assert first.claims["sub"] != party_of(subject_type="pairwise").signed_in().claims["sub"]
    assert first.claims["sub"] != party_of().signed_in().claims["sub"]


def test_oidcc_registration_sector_bad(register: Register, publisher: Publisher) -> None:
    answer = register(**sector(publisher, "https://other.example.com/callback"))

    assert answer.status_code == requests.codes.bad_request
    assert answer.json()["error"] == "invalid_client_metadata"
