"""oidcc-session-management-certification-test-plan."""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
import requests

from tests.certification.relying_party import RelyingParty
from tests.people.person import SECONDS, Arrival, Person
from tests.people.provider import EMAIL, PASSWORD, POST_LOGOUT_REDIRECT_URI, Provider
from tests.people.provider import provider as running

ORIGIN = "https://app.example.com"


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with running(extra="\n[sessions]\ncheck_session_iframe = true\n") as started:
        yield started


def told_by_the_frame(person: Person, session_state: str) -> str:
    """What the frame tells a page of the client: Session Management 1.0 §3.2."""
    cookies = {cookie.name: cookie.value for cookie in person.browser.cookies}
    salt = session_state.rpartition(".")[2]
    text = f"confidential {ORIGIN} {cookies.get('GnomonBrowserState', '')} {salt}"
    digest = urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
    return "unchanged" if f"{digest}.{salt}" == session_state else "changed"


def test_oidcc_session_management_discovery_endpoint_verification(provider: Provider) -> None:
    frame = requests.get(str(provider.metadata["check_session_iframe"]), timeout=SECONDS)

    assert str(provider.metadata["check_session_iframe"]).startswith(provider.issuer)
    assert frame.status_code == requests.codes.ok
    assert frame.headers["Content-Type"].startswith("text/html")
    assert "frame-ancestors *" in frame.headers["Content-Security-Policy"]


def test_oidcc_session_management_rp_initiated_logout(provider: Provider) -> None:
    person = Person(provider.issuer, EMAIL, PASSWORD)
    party = RelyingParty(provider, person)
    arrival = person.sign_in(party.url())
    session_state = arrival.parameters["session_state"]
    answered = party.answered(arrival)
    told = [told_by_the_frame(person, session_state)]

    again = person.sign_in(party.url(prompt="none"))
    told += [told_by_the_frame(person, state) for state in (session_state, again.parameters["session_state"])]
    hint = {
        "id_token_hint": answered.tokens["id_token"],
        "post_logout_redirect_uri": POST_LOGOUT_REDIRECT_URI,
    }
    left = person.visit(f"{provider.issuer}oidc/logout?{urlencode(hint)}")
    told += [told_by_the_frame(person, session_state)]

    assert isinstance(left, Arrival)
    assert told == ["unchanged", "unchanged", "unchanged", "changed"]
    assert party.failed(person.visit(party.url(prompt="none"))) == "login_required"
    person.close()
