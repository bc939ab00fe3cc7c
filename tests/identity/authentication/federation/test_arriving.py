"""Sign-in at an upstream provider and back, with one attack for each check."""

import base64
import hashlib
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from joserfc.jwk import ECKey, OctKey

from identity.access.sessions.session import SESSIONS
from identity.authentication.authorization.terms_step import TermsDecision
from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.redirection import Redirection
from identity.directory.client import CLIENTS
from identity.directory.provider import PROVIDERS
from identity.directory.terms_of_use.terms import TERMS_VERSIONS, TermsVersion
from identity.foundation.vocabulary import AuthenticationMethod
from server.platform.errors import InvalidArgument, NotFound, ServiceError, Unauthenticated
from tests.identity.authentication.federation.flow import NOW, Flow, at_hash, response_target
from tests.identity.authentication.federation.upstream import ISSUER as UPSTREAM
from tests.identity.authentication.federation.upstream import KEYS, published, signed, upstream
from tests.identity.browsers import CALLBACK, ISSUER, alice


@pytest.fixture
async def flow() -> Flow:
    flow = Flow()
    await flow.furnish()
    return flow


async def signed_in(flow: Flow) -> list[str]:
    """Return the upstream subjects of all signed-in sessions."""
    sessions = await flow.provider.store.of(SESSIONS).page(flow.provider.tenant.tenant_id)
    return [session.upstream_sub for session in sessions if session.authentication is not None]


async def test_a_person_is_sent_with_secrets_that_nobody_else_knows(flow: Flow) -> None:
    first, _ = await flow.leave()
    second, _ = await flow.leave()

    secrets = ("state", "nonce", "code_challenge")
    assert first["redirect_uri"] == f"{ISSUER}providers/p1/callback"
    assert (first["response_type"], first["client_id"], first["scope"]) == ("code", "gnomon", "openid")
    assert first["code_challenge_method"] == "S256"
    assert all(len(first[name]) == 43 and first[name] != second[name] for name in secrets)


async def test_whoever_comes_back_goes_on_to_the_relying_party(flow: Flow) -> None:
    asked, browser = await flow.leave(state="of the app", nonce="of-the-app")

    arrived = await flow.arrive(browser, state=asked["state"], iss=UPSTREAM)

    code = await flow.provider.code(response_target(arrived))
    assert response_target(arrived).uri == CALLBACK
    assert dict(response_target(arrived).parameters)["state"] == "of the app"
    assert (code.nonce, code.authentication.amr) == ("of-the-app", ("fed",))
    assert code.authentication.acr == "urn:gnomon:acr:fed"
    assert arrived.session is not None
    assert await flow.provider.session(browser) is None
    assert (arrived.session.upstream_sub, arrived.session.upstream_sid) == ("alice-there", "s1")


async def test_whoever_comes_back_accepts_the_terms_of_use_before_being_signed_in(flow: Flow) -> None:
    provider = flow.provider
    version = TermsVersion(
        tenant_id=provider.tenant.tenant_id,
        id="1",
        uri="https://example.com/terms",
        texts=(),
        holds_from=provider.clock.now(),
        is_accepted_again=True,
        accept_until=None,
        published_at=provider.clock.now(),
    )
    await provider.store.of(TERMS_VERSIONS).insert(version)
    asked, browser = await flow.leave(state="of the app")

    arrived = await flow.arrive(browser, state=asked["state"], iss=UPSTREAM)

    terms = response_target(arrived)
    assert terms.uri == f"{ISSUER}oidc/authorize/terms"
    assert await signed_in(flow) == []
    browser = await provider.with_csrf(replace(browser, cookie=arrived.cookie))
    answered = await provider.terms_step.answer(
        provider.tenant,
        browser,
        dict(terms.parameters)["authorization_id"],
        version="1",
        decision=TermsDecision.ACCEPT,
    )
    assert isinstance(answered.outcome, Redirection)
    assert answered.outcome.uri == CALLBACK
    assert dict(answered.outcome.parameters)["state"] == "of the app"
    assert await signed_in(flow) == ["alice-there"]


async def test_the_code_is_redeemed_with_our_verifier_and_our_secret(flow: Flow) -> None:
    asked, browser = await flow.leave()
    await flow.arrive(browser, state=asked["state"])

    (form,) = flow.answers.forms
    digest = hashlib.sha256(form["code_verifier"].encode()).digest()
    assert base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == asked["code_challenge"]
    assert form["redirect_uri"] == asked["redirect_uri"]
    assert base64.b64decode(form["authorization"].removeprefix("Basic ")) == b"gnomon:s3cret-of-ours"


async def test_a_secret_may_stand_in_the_form(flow: Flow) -> None:
    await flow.add(upstream("p2", token_endpoint_auth_method=AuthenticationMethod.CLIENT_SECRET_POST))
    asked, browser = await flow.leave("p2")
    await flow.arrive(browser, "p2", state=asked["state"])

    (form,) = flow.answers.forms
    assert (form["client_id"], form["client_secret"]) == ("gnomon", "s3cret-of-ours")
    assert form["authorization"] == ""


async def test_a_request_for_a_new_sign_in_goes_on(flow: Flow) -> None:
    assert (await flow.leave(prompt="login"))[0]["prompt"] == "login"
    assert "prompt" not in (await flow.leave())[0]


@pytest.mark.parametrize("alg", KEYS)
async def test_id_tokens_of_these_algorithms_are_taken(flow: Flow, alg: str) -> None:
    flow.answers.alg = alg

    await flow.sign_in()

    assert await signed_in(flow) == ["alice-there"]


TAKEN = [
    pytest.param({"aud": ["other", "gnomon"], "azp": "gnomon"}, id="for several, made for us"),
    pytest.param({"azp": "gnomon"}, id="made for us"),
    pytest.param({"iat": NOW + 5}, id="a clock that is ahead"),
    pytest.param({"exp": NOW - 4}, id="a clock that is behind"),
    pytest.param({"at_hash": None}, id="an access token that is not bound"),
]


@pytest.mark.parametrize("claims", TAKEN)
async def test_an_id_token_that_holds_is_taken(flow: Flow, claims: dict[str, Any]) -> None:
    flow.answers.claims = claims

    await flow.sign_in()

    assert await signed_in(flow) == ["alice-there"]


@pytest.mark.parametrize("email", ["bo\u200bb@example.com", "bob@exa\u00admple.com", "bob\u202e@example.com"])
async def test_an_address_with_characters_that_nobody_sees_makes_no_account(flow: Flow, email: str) -> None:
    flow.answers.claims = {"sub": "bob", "email": email, "given_name": "Bob"}

    await flow.sign_in()

    assert await signed_in(flow) == []
    assert await flow.provider.users.find_by_email(flow.provider.tenant, "bob@example.com") is None


async def test_an_account_has_the_names_of_the_claims(flow: Flow) -> None:
    flow.answers.claims = {
        "sub": "bob",
        "email": "bob@bücher.example",
        "given_name": "Renée (Nina)",
        "family_name": "Da\u200bvis",
    }

    await flow.sign_in()

    user = await flow.provider.users.find_by_email(flow.provider.tenant, "bob@xn--bcher-kva.example")
    assert user is not None
    assert (user.given_name, user.family_name) == ("Renée (Nina)", "")


REFUSED = {
    "another issuer": {"iss": "https://evil.example.com"},
    "no issuer": {"iss": None},
    "for another client": {"aud": "other"},
    "for nobody": {"aud": None},
    "made for another client": {"azp": "other"},
    "for several, made for nobody": {"aud": ["other", "gnomon"]},
    "expired": {"exp": NOW - 5},
    "good for ever": {"exp": None},
    "issued in the future": {"iat": NOW + 6},
    "not valid yet": {"nbf": NOW + 6},
    "no time of issue": {"iat": None},
    "another nonce": {"nonce": "other"},
    "no nonce": {"nonce": None},
    "of another access token": {"at_hash": at_hash(access_token="other")},
    "of an access token that is no text": {"at_hash": 5},
    "about nobody": {"sub": None},
    "about an empty name": {"sub": ""},
    "about a number": {"sub": 7},
    "about a name that is too long": {"sub": "x" * 256},
}


@pytest.mark.parametrize("claims", REFUSED.values(), ids=REFUSED)
async def test_an_id_token_that_does_not_hold_signs_nobody_in(flow: Flow, claims: dict[str, Any]) -> None:
    flow.answers.claims = claims

    with pytest.raises(Unauthenticated):
        await flow.sign_in()

    assert await signed_in(flow) == []


def genuine(nonce: str) -> dict[str, Any]:
    return {
        "iss": UPSTREAM,
        "aud": "gnomon",
        "sub": "alice-there",
        "iat": NOW,
        "exp": NOW + 60,
        "nonce": nonce,
        "email": "alice@example.com",
    }


FORGED = ECKey.generate_key("P-256", {"kid": "ES256"})
SIGNATURES: list[Any] = [
    pytest.param({"key": FORGED}, id="somebody else's key"),
    pytest.param({"header": {"kid": "unknown"}}, id="a key that is not known"),
    pytest.param(
        {"alg": "HS256", "key": OctKey.import_key(published(KEYS["ES256"])), "header": {"kid": "ES256"}},
        id="a published key for a shared secret",
    ),
    pytest.param({"key": KEYS["RS256"], "alg": "RS256", "header": {"kid": "ES256"}}, id="another key's name"),
    pytest.param({"header": {"typ": "logout+jwt"}}, id="a logout token"),
    pytest.param({"header": {"typ": "at+jwt"}}, id="an access token"),
]


@pytest.mark.parametrize("signing", SIGNATURES)
async def test_a_signature_that_does_not_hold_signs_nobody_in(flow: Flow, signing: dict[str, Any]) -> None:
    asked, browser = await flow.leave()
    flow.answers.id_token = signed(genuine(asked["nonce"]), **signing)

    with pytest.raises(Unauthenticated):
        await flow.arrive(browser, state=asked["state"])

    assert await signed_in(flow) == []


async def test_without_a_signature_nobody_is_signed_in(flow: Flow) -> None:
    for alg in ("none", "ES256"):
        asked, browser = await flow.leave()
        header = base64.urlsafe_b64encode(f'{{"alg":"{alg}","kid":"ES256"}}'.encode()).decode().rstrip("=")
        claims = signed(genuine(asked["nonce"])).split(".")[1]
        flow.answers.id_token = f"{header}.{claims}."

        with pytest.raises(Unauthenticated):
            await flow.arrive(browser, state=asked["state"])

    assert await signed_in(flow) == []


async def test_a_der_signature_is_no_signature(flow: Flow) -> None:
    asked, browser = await flow.leave()
    head, claims, raw = signed(genuine(asked["nonce"])).split(".")
    octets = base64.urlsafe_b64decode(raw + "==")
    halves = [b"\x02\x21\x00" + octets[:32], b"\x02\x21\x00" + octets[32:]]
    der = b"\x30" + bytes([sum(map(len, halves))]) + b"".join(halves)
    flow.answers.id_token = f"{head}.{claims}.{base64.urlsafe_b64encode(der).decode().rstrip('=')}"

    with pytest.raises(Unauthenticated):
        await flow.arrive(browser, state=asked["state"])


@pytest.mark.parametrize("state", ["", "unknown"])
async def test_without_a_state_of_ours_nobody_is_signed_in(flow: Flow, state: str) -> None:
    _, browser = await flow.leave()

    with pytest.raises(Unauthenticated):
        await flow.arrive(browser, state=state)


async def test_a_state_is_good_once(flow: Flow) -> None:
    asked, browser = await flow.leave()
    await flow.arrive(browser, state=asked["state"])

    with pytest.raises(Unauthenticated):
        await flow.arrive(browser, state=asked["state"])

    assert len(flow.answers.forms) == 1


async def test_a_state_is_good_for_five_minutes(flow: Flow) -> None:
    asked, browser = await flow.leave()
    flow.provider.clock.advance(timedelta(minutes=5))

    with pytest.raises(Unauthenticated):
        await flow.arrive(browser, state=asked["state"])


async def test_another_browser_cannot_use_a_state_nor_use_it_up(flow: Flow) -> None:
    asked, browser = await flow.leave()
    nonce = flow.answers.nonce
    _, other = await flow.leave()

    for thief in (other, replace(browser, cookie="")):
        with pytest.raises(Unauthenticated):
            await flow.arrive(thief, state=asked["state"])

    flow.answers.nonce = nonce
    assert (await flow.arrive(browser, state=asked["state"])).session is not None


async def test_another_providers_callback_takes_nothing(flow: Flow) -> None:
    await flow.add(upstream("p2"))
    asked, browser = await flow.leave("p1")

    with pytest.raises(Unauthenticated):
        await flow.arrive(browser, "p2", state=asked["state"])


async def test_another_tenants_callback_takes_nothing(flow: Flow) -> None:
    asked, browser = await flow.leave()
    acme = flow.provider.tenants.find("acme")

    with pytest.raises(Unauthenticated):
        await flow.callback.arrive(
            acme, browser, "p1", Parameters((("state", asked["state"]), ("code", "c1")))
        )


async def test_an_answer_of_another_issuer_is_a_mix_up(flow: Flow) -> None:
    asked, browser = await flow.leave()

    with pytest.raises(Unauthenticated):
        await flow.arrive(browser, state=asked["state"], iss="https://evil.example.com")

    assert flow.answers.forms == []


async def test_a_provider_that_signs_nobody_in_is_said_to_the_relying_party(flow: Flow) -> None:
    asked, browser = await flow.leave()

    arrived = await flow.arrive(browser, state=asked["state"], error="access_denied", code="")

    assert dict(response_target(arrived).parameters)["error"] == "access_denied"
    assert arrived.session is None


async def test_a_provider_that_is_disabled_meanwhile_signs_nobody_in(flow: Flow) -> None:
    asked, browser = await flow.leave()
    records = flow.provider.store.of(PROVIDERS)
    (provider,) = await records.page(flow.provider.tenant.tenant_id)
    await records.replace(replace(provider, fields=replace(provider.fields, is_enabled=False)))

    with pytest.raises(Unauthenticated):
        await flow.arrive(browser, state=asked["state"])


async def test_userinfo_of_somebody_else_tells_nothing(flow: Flow) -> None:
    await flow.add(upstream("p2", onboards=True, userinfo_endpoint="https://up.example.com/userinfo"))
    flow.answers.claims = {"email": None, "email_verified": None}
    flow.answers.userinfo = {"sub": "bob-there", "email": "bob@example.com", "email_verified": True}
    asked, browser = await flow.leave("p2")

    arrived = await flow.arrive(browser, "p2", state=asked["state"])

    assert dict(response_target(arrived).parameters)["error"] == "access_denied"


async def test_somebody_else_than_was_asked_for_is_not_signed_in(flow: Flow) -> None:
    await flow.provider.admit(alice(id="bob", email="bob@example.com"))
    hint = flow.provider.id_token(sub="bob")
    asked, browser = await flow.leave(id_token_hint=hint)

    arrived = await flow.arrive(browser, state=asked["state"])

    assert dict(response_target(arrived).parameters)["error"] == "login_required"
    assert arrived.session is None


async def test_a_client_that_asks_for_two_factors_is_told_that_there_was_one(flow: Flow) -> None:
    records = flow.provider.store.of(CLIENTS)
    (client,) = await records.page(flow.provider.tenant.tenant_id)
    await records.replace(replace(client, requires_mfa=True))

    arrived = await flow.sign_in()

    assert dict(response_target(arrived).parameters)["error"] == "interaction_required"
    assert await signed_in(flow) == []


REFUSED_DEPARTURES: list[Any] = [
    pytest.param({"provider_id": "nobody"}, {}, NotFound, id="a provider that is not there"),
    pytest.param({"proof_of_work": ""}, {}, InvalidArgument, id="no work"),
    pytest.param({"authorization_id": ""}, {}, InvalidArgument, id="no request"),
    pytest.param({"authorization_id": "other"}, {}, Unauthenticated, id="another's request"),
    pytest.param({}, {"csrf_token": "other"}, Unauthenticated, id="another page"),
    pytest.param({}, {"cookie": ""}, Unauthenticated, id="no session"),
]


@pytest.mark.parametrize(("departure", "place", "refusal"), REFUSED_DEPARTURES)
async def test_nobody_leaves_but_from_our_page(
    flow: Flow, departure: dict[str, str], place: dict[str, str], refusal: type[ServiceError]
) -> None:
    given, browser = await flow.departure()

    with pytest.raises(refusal):
        await flow.login_redirect.leave(
            flow.provider.tenant, replace(browser, **place), replace(given, **departure)
        )
