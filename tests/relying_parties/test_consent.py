"""Users see which client requests what, and can withdraw their consent."""

from urllib.parse import urljoin

import pytest
import requests

from tests.certification.relying_party import RelyingParty
from tests.people.person import SECONDS, Page, Person
from tests.people.provider import SECRET, Provider


@pytest.fixture
def party(provider: Provider, person: Person) -> RelyingParty:
    """A relying party whose users are asked for consent once."""
    return RelyingParty(provider, person, client_id="asking", secret=SECRET, scope="openid email")


def asked(party: RelyingParty, **parameters: str) -> Page:
    """Return the consent page after the sign-in."""
    page = party.person.visit(party.url(**parameters))
    assert isinstance(page, Page)
    question = party.person.submit(page)
    assert isinstance(question, Page)
    return question


def take_back(party: RelyingParty) -> requests.Response:
    session = party.person.session()
    return party.person.browser.delete(
        urljoin(party.provider.issuer, f"users/{session['user_id']}/consents/{party.client_id}"),
        headers={"x-csrf-token": str(session["csrf_token"])},
        timeout=SECONDS,
    )


@pytest.fixture(autouse=True)
def _granted_nothing(party: RelyingParty) -> None:
    """Sign the user in, and withdraw consents of other tests."""
    party.person.sign_in(RelyingParty(party.provider, party.person).url())
    take_back(party)


def test_who_accepts_is_asked_no_more(party: RelyingParty) -> None:
    question = asked(party)
    first = party.answered(party.succeeded(party.person.answer(question, "accept")))

    again = party.signed_in()

    assert "The Asking Application" in question.words
    assert "See your email address" in question.words
    assert f"You are signed in as {party.person.email}" in question.words
    assert first.claims["email"] == again.claims["email"] == party.person.email


def test_who_is_asked_need_not_have_been_signed_in(party: RelyingParty, provider: Provider) -> None:
    with provider.person() as stranger:
        party = RelyingParty(provider, stranger, client_id="asking", secret=SECRET)
        page = stranger.visit(party.url())
        assert isinstance(page, Page)
        assert page.asks_for_a_password

        question = stranger.submit(page)

        assert isinstance(question, Page)
        party.succeeded(stranger.answer(question, "accept"))


def test_who_declines_is_sent_back_without_a_code(party: RelyingParty) -> None:
    question = asked(party)

    assert party.failed(party.person.answer(question, "decline")) == "access_denied"
    assert party.failed(party.person.visit(party.url(prompt="none"))) == "consent_required"


def test_what_is_taken_back_ends_at_once_and_is_asked_again(party: RelyingParty) -> None:
    tokens = party.answered(party.succeeded(party.person.answer(asked(party), "accept"))).tokens

    assert take_back(party).status_code == 204

    introspected = party.post("oidc/introspect", {"token": tokens["access_token"]})
    refreshed = party.post(
        "oidc/token", {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    )
    assert introspected.json() == {"active": False}
    assert (refreshed.status_code, refreshed.json()["error"]) == (400, "invalid_grant")
    assert "See your email address" in asked(party).words


def test_a_code_is_worth_nothing_once_its_consent_is_taken_back(party: RelyingParty) -> None:
    arrival = party.succeeded(party.person.answer(asked(party), "accept"))

    take_back(party)

    answer = party.exchange(arrival.parameters["code"])
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")


def test_a_page_of_somebody_else_takes_nothing_back(party: RelyingParty) -> None:
    party.succeeded(party.person.answer(asked(party), "accept"))
    path = f"users/{party.person.session()['user_id']}/consents/{party.client_id}"

    forged = party.person.browser.delete(urljoin(party.provider.issuer, path), timeout=SECONDS)

    assert forged.status_code == 401
    party.authorized(prompt="none")


def test_prompt_consent_asks_whoever_was_never_asked(party: RelyingParty) -> None:
    trusted = RelyingParty(party.provider, party.person)

    question = asked(trusted, prompt="consent")

    assert "The Application" in question.words
    trusted.succeeded(trusted.person.answer(question, "accept"))
