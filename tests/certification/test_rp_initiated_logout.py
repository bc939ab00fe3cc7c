"""oidcc-rp-initiated-logout-certification-test-plan."""

from collections.abc import Callable
from urllib.parse import urlencode

import pytest
import requests
from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.certification.relying_party import Answered, RelyingParty, unsigned
from tests.people.person import SECONDS, Arrival, Page, Person
from tests.people.provider import POST_LOGOUT_REDIRECT_URI, Provider


@pytest.fixture
def relying_party(provider: Provider, person: Person) -> RelyingParty:
    return RelyingParty(provider, person)


@pytest.fixture
def answered(relying_party: RelyingParty) -> Answered:
    return relying_party.signed_in()


def logout(party: RelyingParty, **parameters: str) -> Page | Arrival:
    return party.person.visit(f"{party.provider.issuer}oidc/logout?{urlencode(parameters)}")


def is_signed_in(party: RelyingParty) -> bool:
    outcome = party.person.visit(party.url(prompt="none"))
    assert isinstance(outcome, Arrival)
    return "code" in outcome.parameters


def test_oidcc_rp_initiated_logout_discovery_endpoint_verification(provider: Provider) -> None:
    assert str(provider.metadata["end_session_endpoint"]).startswith(provider.issuer)


def test_oidcc_rp_initiated_logout(relying_party: RelyingParty, answered: Answered) -> None:
    back = logout(
        relying_party,
        id_token_hint=answered.tokens["id_token"],
        post_logout_redirect_uri=POST_LOGOUT_REDIRECT_URI,
        state="a state",
    )

    assert isinstance(back, Arrival)
    assert back.url.startswith(f"{POST_LOGOUT_REDIRECT_URI}?")
    assert back.parameters == {"state": "a state"}
    assert not is_signed_in(relying_party)


def test_oidcc_rp_initiated_logout_no_state(relying_party: RelyingParty, answered: Answered) -> None:
    back = logout(
        relying_party,
        id_token_hint=answered.tokens["id_token"],
        post_logout_redirect_uri=POST_LOGOUT_REDIRECT_URI,
    )

    assert back == Arrival(POST_LOGOUT_REDIRECT_URI)
    assert not is_signed_in(relying_party)


@pytest.mark.parametrize(
    "uri",
    [
        pytest.param(
            "https://evil.example.com/", id="oidcc-rp-initiated-logout-bad-post-logout-redirect-uri"
        ),
        pytest.param(
            f"{POST_LOGOUT_REDIRECT_URI}?foo=bar",
            id="oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri",
        ),
    ],
)
def test_no_way_leads_to_where_nobody_registered(
    relying_party: RelyingParty, answered: Answered, uri: str
) -> None:
    outcome = logout(relying_party, id_token_hint=answered.tokens["id_token"], post_logout_redirect_uri=uri)

    assert isinstance(outcome, Page)


def posted_by_another_site(party: RelyingParty, **parameters: str) -> Page | Arrival:
    """Post a form of another site as browsers do: without cookies; the page in the answer posts by itself."""
    url = f"{party.provider.issuer}oidc/logout"
    answer = requests.post(url, data=parameters, headers={"Sec-Fetch-Site": "cross-site"}, timeout=SECONDS)
    page = Page(answer.status_code, answer.url, answer.text)
    return party.person.visit(url, page.hidden)


def test_a_request_that_another_site_posts_ends_the_session(
    relying_party: RelyingParty, answered: Answered
) -> None:
    back = posted_by_another_site(
        relying_party,
        id_token_hint=answered.tokens["id_token"],
        post_logout_redirect_uri=POST_LOGOUT_REDIRECT_URI,
        state="a state",
    )

    assert isinstance(back, Arrival)
    assert back.parameters == {"state": "a state"}
    assert not is_signed_in(relying_party)


def test_a_request_without_a_hint_that_another_site_posts_is_a_question(
    relying_party: RelyingParty, answered: Answered
) -> None:
    outcome = posted_by_another_site(
        relying_party,
        client_id=str(answered.claims["aud"]),
        post_logout_redirect_uri=POST_LOGOUT_REDIRECT_URI,
    )

    assert isinstance(outcome, Page)
    assert is_signed_in(relying_party)


def test_a_hint_alone_ends_no_session_of_another_browser(
    relying_party: RelyingParty, answered: Answered
) -> None:
    """An ID token that somebody found in a log proves nothing about who holds it."""
    form = {"id_token_hint": answered.tokens["id_token"], "posted_again": "yes"}

    answer = requests.post(f"{relying_party.provider.issuer}oidc/logout", data=form, timeout=SECONDS)

    assert answer.status_code == requests.codes.ok
    assert is_signed_in(relying_party)


def _hint_without_signature(answered: Answered) -> str:
    return unsigned(answered.claims)


def _hint_of_a_foreign_key(answered: Answered) -> str:
    return jwt.encode({"alg": "RS256"}, dict(answered.claims), RSAKey.generate_key())


@pytest.mark.parametrize(
    "forged",
    [
        pytest.param(_hint_without_signature, id="oidcc-rp-initiated-logout-modified-id-token-hint"),
        pytest.param(_hint_of_a_foreign_key, id="oidcc-rp-initiated-logout-bad-id-token-hint"),
    ],
)
def test_no_way_leads_back_with_a_forged_hint(
    relying_party: RelyingParty, answered: Answered, forged: Callable[[Answered], str]
) -> None:
    outcome = logout(
        relying_party,
        id_token_hint=forged(answered),
        post_logout_redirect_uri=POST_LOGOUT_REDIRECT_URI,
    )

    assert isinstance(outcome, Page)


def test_oidcc_rp_initiated_logout_no_id_token_hint(relying_party: RelyingParty, answered: Answered) -> None:
    outcome = logout(relying_party, post_logout_redirect_uri=POST_LOGOUT_REDIRECT_URI)

    assert answered.claims
    assert isinstance(outcome, Page)


@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param((), id="oidcc-rp-initiated-logout-no-params"),
        pytest.param(("id_token_hint",), id="oidcc-rp-initiated-logout-no-post-logout-redirect-uri"),
        pytest.param(("state",), id="oidcc-rp-initiated-logout-only-state"),
    ],
)
def test_the_person_is_signed_out_and_told(
    relying_party: RelyingParty, answered: Answered, parameters: tuple[str, ...]
) -> None:
    known = {"id_token_hint": answered.tokens["id_token"], "state": "a state"}

    page = logout(relying_party, **{name: known[name] for name in parameters})

    assert isinstance(page, Page)
    if page.hidden:
        relying_party.person.confirm_logout(page)
    assert not is_signed_in(relying_party)
