"""oidcc-basic-certification-test-plan and oidcc-formpost-basic-certification-test-plan, each module by its name."""

import time
from base64 import urlsafe_b64encode
from dataclasses import replace
from hashlib import sha256

import pytest
import requests

from tests.certification.relying_party import RelyingParty, unsigned
from tests.people.person import SECONDS, Arrival, Page
from tests.people.provider import REDIRECT_URI

PROFILE = {"name", "given_name", "family_name", "preferred_username", "birthdate", "zoneinfo", "locale"}
EMAIL = {"email", "email_verified"}
PHONE = {"phone_number", "phone_number_verified"}
VERIFIER = "a-verifier-of-forty-three-characters-or-more-00"
CHALLENGE = urlsafe_b64encode(sha256(VERIFIER.encode()).digest()).decode().rstrip("=")


def test_oidcc_server(party: RelyingParty) -> None:
    answered = party.signed_in()

    assert party.userinfo(answered.access_token)["sub"] == answered.claims["sub"]


def test_oidcc_response_type_missing(party: RelyingParty) -> None:
    outcome = party.person.visit(party.url(response_type=None))

    assert isinstance(outcome, Page) or party.failed(outcome) in {
        "unsupported_response_type",
        "invalid_request",
    }


def test_oidcc_idtoken_signature(party: RelyingParty) -> None:
    assert party.signed_in().claims


def test_oidcc_idtoken_unsigned(party: RelyingParty) -> None:
    """No client can register for one."""
    assert "none" not in party.provider.metadata["id_token_signing_alg_values_supported"]  # type: ignore[operator]


def test_oidcc_userinfo_get(party: RelyingParty) -> None:
    answered = party.signed_in()

    assert party.userinfo(answered.access_token)["sub"] == answered.claims["sub"]


@pytest.mark.parametrize(
    "place",
    [
        pytest.param("header", id="oidcc-userinfo-post-header"),
        pytest.param("body", id="oidcc-userinfo-post-body"),
    ],
)
def test_userinfo_is_posted(party: RelyingParty, place: str) -> None:
    answered = party.signed_in()
    token = answered.access_token
    sent = (
        {"headers": {"Authorization": f"Bearer {token}"}}
        if place == "header"
        else {"data": {"access_token": token}}
    )

    answer = requests.post(f"{party.provider.issuer}oidc/userinfo", timeout=SECONDS, **sent)

    assert answer.json()["sub"] == answered.claims["sub"]


def test_oidcc_ensure_request_without_nonce_succeeds_for_code_flow(party: RelyingParty) -> None:
    assert "nonce" not in party.signed_in(nonce=None).claims


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        pytest.param("profile", PROFILE, id="oidcc-scope-profile"),
        pytest.param("email", EMAIL, id="oidcc-scope-email"),
        pytest.param("address", {"address"}, id="oidcc-scope-address"),
        pytest.param("phone", PHONE, id="oidcc-scope-phone"),
        pytest.param(
            "profile email address phone", PROFILE | EMAIL | PHONE | {"address"}, id="oidcc-scope-all"
        ),
    ],
)
def test_scopes_open_claims(party: RelyingParty, scope: str, expected: set[str]) -> None:
    answered = party.signed_in(scope=f"openid {scope}")

    assert expected <= party.userinfo(answered.access_token).keys()


def test_oidcc_alternate_happy_flow(party: RelyingParty) -> None:
    """Another order of scopes and parameters gives the same."""
    first = party.signed_in(scope="openid profile email")
    party.url(scope="email profile openid")
    backwards = dict(reversed(party.asked.items()))
    second = party.signed_in(**backwards)

    claims = party.userinfo(first.access_token)
    assert party.userinfo(second.access_token) == claims


@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param({"display": "page"}, id="oidcc-display-page"),
        pytest.param({"display": "popup"}, id="oidcc-display-popup"),
        pytest.param({"extra": "foobar"}, id="oidcc-ensure-request-with-unknown-parameter-succeeds"),
        pytest.param({"login_hint": "bob@example.com"}, id="oidcc-login-hint"),
        pytest.param({"ui_locales": "se"}, id="oidcc-ui-locales"),
        pytest.param({"claims_locales": "se"}, id="oidcc-claims-locales"),
        pytest.param({"acr_values": "1 2"}, id="oidcc-ensure-request-with-acr-values-succeeds"),
        pytest.param({"claims": '{"userinfo":{"name":{"essential":true}}}'}, id="oidcc-claims-essential"),
    ],
)
def test_the_request_succeeds(party: RelyingParty, parameters: dict[str, str]) -> None:
    answered = party.signed_in(**parameters)

    if "claims" in parameters:
        assert party.userinfo(answered.access_token)["name"] == "Alice Liddell"


def test_oidcc_prompt_login(party: RelyingParty) -> None:
    first = party.signed_in()
    asked_at = int(time.time())
    shown = len(party.person.pages)

    second = party.signed_in(prompt="login", max_age="15000")

    assert len(party.person.pages) > shown
    assert party.person.pages[shown].asks_for_a_password
    assert second.claims["sub"] == first.claims["sub"]
    assert second.claims["auth_time"] >= asked_at


def test_oidcc_prompt_none_not_logged_in(party: RelyingParty) -> None:
    outcome = party.person.visit(party.url(prompt="none"))

    assert party.failed(outcome) == "login_required"


def test_oidcc_prompt_none_logged_in(party: RelyingParty) -> None:
    first = party.signed_in(max_age="15000")

    outcome = party.person.visit(party.url(prompt="none", max_age="15000"))

    assert isinstance(outcome, Arrival)
    second = party.answered(party.succeeded(outcome))
    assert second.claims["sub"] == first.claims["sub"]
    assert second.claims["auth_time"] == first.claims["auth_time"]


def test_oidcc_max_age_1(party: RelyingParty) -> None:
    first = party.signed_in(max_age="15000")
    while time.time() < first.claims["auth_time"] + 2:
        time.sleep(0.1)  # the wait is what is tested
    shown = len(party.person.pages)

    second = party.signed_in(max_age="1")

    assert party.person.pages[shown].asks_for_a_password
    assert second.claims["auth_time"] > first.claims["auth_time"]


def test_oidcc_max_age_10000(party: RelyingParty) -> None:
    first = party.signed_in(max_age="10000")

    second = party.signed_in(max_age="10000")

    assert second.claims["auth_time"] == first.claims["auth_time"]


def test_oidcc_id_token_hint(party: RelyingParty) -> None:
    first = party.signed_in()

    outcome = party.person.visit(party.url(prompt="none", id_token_hint=first.tokens["id_token"]))

    assert isinstance(outcome, Arrival)
    assert party.answered(party.succeeded(outcome)).claims["sub"] == first.claims["sub"]


def test_oidcc_codereuse(party: RelyingParty) -> None:
    arrival = party.authorized()
    party.answered(arrival)

    second = party.exchange(arrival.parameters["code"])

    assert (second.status_code, second.json()["error"]) == (400, "invalid_grant")


def test_oidcc_codereuse_30seconds(party: RelyingParty) -> None:
    """The tokens of the first use are revoked."""
    arrival = party.authorized()
    first = party.answered(arrival)

    party.exchange(arrival.parameters["code"])

    inspected = party.post("oidc/introspect", {"token": first.access_token}).json()
    assert inspected == {"active": False}


def test_oidcc_ensure_registered_redirect_uri(party: RelyingParty) -> None:
    outcome = party.person.visit(party.url(redirect_uri="https://evil.example.com/callback"))

    assert isinstance(outcome, Page)
    assert outcome.status == requests.codes.bad_request


def test_oidcc_ensure_post_request_succeeds(party: RelyingParty) -> None:
    party.url()
    page = party.person.visit(f"{party.provider.issuer}oidc/authorize", form=party.asked)
    assert isinstance(page, Page)

    arrival = party.person.submit(page)

    assert isinstance(arrival, Arrival)
    assert party.answered(party.succeeded(arrival)).claims


def test_oidcc_server_client_secret_post(party: RelyingParty) -> None:
    assert replace(party, method="client_secret_post").signed_in().claims


def test_oidcc_request_uri_unsigned_supported_correctly_or_rejected_as_unsupported(
    party: RelyingParty,
) -> None:
    outcome = party.person.visit(party.url(request_uri="https://app.example.com/request"))

    assert party.failed(outcome) == "request_uri_not_supported"


def _request_object(party: RelyingParty, **members: str) -> str:
    return unsigned({"client_id": party.client_id, **members})


def test_oidcc_unsigned_request_object_supported_correctly_or_rejected_as_unsupported(
    party: RelyingParty,
) -> None:
    outcome = party.person.visit(party.url(request=_request_object(party, state="other")))

    assert party.failed(outcome) == "request_not_supported"


def test_oidcc_ensure_request_object_with_redirect_uri(party: RelyingParty) -> None:
    request = _request_object(party, redirect_uri=REDIRECT_URI)

    outcome = party.person.visit(party.url(redirect_uri="https://evil.example.com/", request=request))

    assert isinstance(outcome, Page)


def test_oidcc_refresh_token(party: RelyingParty) -> None:
    first = party.signed_in(scope="openid offline_access")
    refresh = {"grant_type": "refresh_token", "refresh_token": first.tokens["refresh_token"]}

    second = party.post("oidc/token", refresh).json()

    claims = party.verified(second, is_refreshed=True)
    assert {name: claims[name] for name in ("iss", "sub", "aud")} == {
        name: first.claims[name] for name in ("iss", "sub", "aud")
    }
    assert second["refresh_token"] != first.tokens["refresh_token"]
    assert second["refresh_token"].isascii()
    assert second["refresh_token"].isprintable()
    stranger = replace(party, client_id="second")
    refused = stranger.post("oidc/token", {**refresh, "refresh_token": second["refresh_token"]})
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")
    again = party.post("oidc/token", {**refresh, "refresh_token": second["refresh_token"]})
    assert again.status_code == requests.codes.ok


def test_oidcc_ensure_request_with_valid_pkce_succeeds(party: RelyingParty) -> None:
    arrival = party.authorized(code_challenge=CHALLENGE, code_challenge_method="S256")

    without = party.exchange(
        party.authorized(code_challenge=CHALLENGE, code_challenge_method="S256").parameters["code"]
    )
    answer = party.exchange(arrival.parameters["code"], code_verifier=VERIFIER)

    assert (without.status_code, without.json()["error"]) == (400, "invalid_grant")
    assert answer.status_code == requests.codes.ok
