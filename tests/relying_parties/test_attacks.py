"""Attacks on a signed-in user and an honest relying party."""

from base64 import urlsafe_b64encode
from hashlib import sha256
from typing import Any
from urllib.parse import urljoin

import pytest
import requests

from tests.certification.relying_party import RelyingParty
from tests.people.person import SECONDS, Arrival, Page, Person
from tests.people.provider import SECRET, Provider

VERIFIER = "a-verifier-of-forty-three-characters-or-more-00"
CHALLENGE = urlsafe_b64encode(sha256(VERIFIER.encode()).digest()).decode().rstrip("=")


@pytest.fixture
def party(provider: Provider, person: Person) -> RelyingParty:
    return RelyingParty(provider, person)


def is_signed_in(party: RelyingParty) -> bool:
    outcome = party.person.visit(party.url(prompt="none"))
    assert isinstance(outcome, Arrival)
    return "code" in outcome.parameters


def test_whoever_knew_the_session_before_the_sign_in_knows_nothing_after_it(party: RelyingParty) -> None:
    page = party.person.visit(party.url())
    assert isinstance(page, Page)
    planted = party.person.browser.cookies.copy()

    party.person.submit(page)

    info = urljoin(party.provider.issuer, "oidc/sessioninfo")
    assert requests.get(info, cookies=planted, timeout=SECONDS).status_code == 401
    assert party.person.browser.get(info, timeout=SECONDS).status_code == 200


FORGED = [
    pytest.param("oidc/authorize/refresh", {"json": {"authorization_id": "x"}}, id="going on"),
    pytest.param(
        "oidc/authorize/consent",
        {"data": {"authorization_id": "x", "decision": "accept", "csrf_token": "forged"}},
        id="letting a client have something",
    ),
    pytest.param(
        "oidc/device/verify",
        {"json": {"user_code": "BCDF-GHJK", "pow": "x", "device_accepted": "accept"}},
        id="letting a device in",
    ),
    pytest.param(
        "oidc/authorize",
        {"json": {"authorization_id": "x", "email": "eve@example.com", "password": "p", "pow": "x"}},
        id="signing in as somebody else",
    ),
]


@pytest.mark.parametrize(("path", "body"), FORGED)
@pytest.mark.parametrize("headers", [{}, {"x-csrf-token": "forged"}])
def test_a_request_that_no_page_of_ours_made_changes_nothing(
    party: RelyingParty, path: str, body: dict[str, Any], headers: dict[str, str]
) -> None:
    party.signed_in()

    answer = party.person.browser.post(
        urljoin(party.provider.issuer, path), headers=headers, timeout=SECONDS, **body
    )

    assert answer.status_code == 401
    assert is_signed_in(party)


def test_a_forged_logout_asks_once_more(party: RelyingParty) -> None:
    party.signed_in()

    page = party.person.visit(urljoin(party.provider.issuer, "oidc/logout"), {"csrf_token": "forged"})

    assert isinstance(page, Page)
    assert page.hidden["csrf_token"] != "forged"
    assert is_signed_in(party)


def test_a_stolen_code_is_worth_nothing_to_another_client(party: RelyingParty) -> None:
    code = party.authorized().parameters["code"]
    thief = RelyingParty(party.provider, party.person, client_id="second", secret=SECRET)

    stolen = thief.exchange(code)

    assert (stolen.status_code, stolen.json()["error"]) == (400, "invalid_grant")
    assert party.exchange(code).status_code == 200


def test_a_challenge_that_was_taken_out_on_the_way_is_missed(party: RelyingParty) -> None:
    code = party.authorized().parameters["code"]

    answer = party.exchange(code, code_verifier=VERIFIER)

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")


def test_a_public_client_gets_nowhere_without_a_challenge(party: RelyingParty) -> None:
    public = RelyingParty(party.provider, party.person, client_id="public")

    assert public.failed(party.person.visit(public.url())) == "invalid_request"
    assert isinstance(party.person.visit(public.url(**_challenge())), Page)


def test_what_was_posted_does_not_travel_on(party: RelyingParty) -> None:
    party.signed_in()
    party.url(prompt="none")

    answer = party.person.browser.post(
        urljoin(party.provider.issuer, "oidc/authorize"),
        data=party.asked,
        allow_redirects=False,
        timeout=SECONDS,
    )

    assert answer.status_code == 303


def _challenge() -> dict[str, str]:
    return {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}
