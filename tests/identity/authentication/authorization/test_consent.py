"""The consent check between sign-in and code."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from identity.access.sessions.browser import Browser
from identity.authentication.authorization.asked import Reference
from identity.authentication.authorization.consent import ConsentQuestion
from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.redirection import Redirection
from identity.foundation.events.event import EVENTS
from identity.foundation.vocabulary import ConsentMode
from server.platform.errors import Unauthenticated
from tests.identity.browsers import ADDRESS, CALLBACK, Provider, alice, app, calls

ONCE = "app"
ALWAYS = "wary"
NEVER = "ours"

API = "https://api.example.com/"


@pytest.fixture
async def provider() -> Provider:
    provider = Provider()
    await provider.register(
        app(consent=ConsentMode.ONCE, allowed_resources=(API,)),
        app(id=ALWAYS, consent=ConsentMode.ALWAYS),
        app(id=NEVER),
    )
    await provider.admit(alice(), alice(id="bob", email="bob@example.com"))
    return provider


async def signed_in(provider: Provider, email: str = "alice@example.com") -> Browser:
    """Return a browser whose user has signed in and was not asked for consent."""
    return await provider.signed_in(email=email, client_id=NEVER)


async def gone_on(
    provider: Provider, browser: Browser, **parameters: str
) -> tuple[Redirection | ConsentQuestion, Browser]:
    """Continue the request of the signed-in user, and return the outcome."""
    step, browser = await provider.page(browser, **parameters)
    reference = Reference(authorization_id=step.authorization_id, parameters=Parameters(()))
    return await provider.refresh_step.refresh(provider.tenant, browser, reference), browser


async def asked(provider: Provider, browser: Browser, **parameters: str) -> tuple[ConsentQuestion, Browser]:
    outcome, browser = await gone_on(provider, browser, **parameters)
    assert isinstance(outcome, ConsentQuestion)
    return outcome, browser


async def answered(
    provider: Provider, browser: Browser, question: ConsentQuestion, *, is_accepted: bool = True
) -> dict[str, str]:
    """Return the parameters that the relying party gets."""
    redirection = await provider.consent_step.answer(
        provider.tenant, browser, question.authorization_id, is_accepted=is_accepted
    )
    assert redirection.uri == CALLBACK
    return dict(redirection.parameters)


async def granted(provider: Provider, browser: Browser, **parameters: str) -> None:
    question, browser = await asked(provider, browser, **parameters)
    assert "code" in await answered(provider, browser, question)


async def test_whoever_signs_in_is_asked_before_there_is_a_code(provider: Provider) -> None:
    step, browser = await provider.page()

    signed_in = await provider.submit(step, browser)

    assert isinstance(signed_in.outcome, ConsentQuestion)
    assert signed_in.session is not None
    browser = await provider.with_csrf(replace(browser, cookie=signed_in.cookie))
    answer = await answered(provider, browser, signed_in.outcome)
    assert answer.keys() == {"code", "state", "iss"}


async def test_the_code_is_for_what_was_asked(provider: Provider) -> None:
    browser = await signed_in(provider)
    question, browser = await asked(provider, browser, scope="openid email", resource=API)

    redirection = await provider.consent_step.answer(
        provider.tenant, browser, question.authorization_id, is_accepted=True
    )

    code = await provider.code(redirection)
    assert (code.oauth_scopes, code.resources, code.nonce) == (("openid", "email"), (API,), "n1")


async def test_a_client_of_the_deployment_asks_nobody(provider: Provider) -> None:
    outcome, _ = await gone_on(provider, await signed_in(provider), client_id=NEVER)

    assert isinstance(outcome, Redirection)


async def test_what_was_granted_is_asked_once(provider: Provider) -> None:
    browser = await signed_in(provider)
    await granted(provider, browser)

    outcome, _ = await gone_on(provider, browser)
    narrower, _ = await gone_on(provider, browser, scope="openid")

    assert isinstance(outcome, Redirection)
    assert isinstance(narrower, Redirection)


WIDER = [
    pytest.param({"scope": "openid email profile"}, id="scope"),
    pytest.param({"resource": API}, id="resource"),
    pytest.param({"claims": '{"userinfo": {"phone_number": null}}'}, id="claim of userinfo"),
    pytest.param({"claims": '{"id_token": {"birthdate": {"essential": true}}}'}, id="claim of the ID token"),
]


@pytest.mark.parametrize("parameters", WIDER)
async def test_what_goes_beyond_is_asked_again_and_remembered_beside(
    provider: Provider, parameters: dict[str, str]
) -> None:
    browser = await signed_in(provider)
    await granted(provider, browser)

    await granted(provider, browser, **parameters)

    for before in ({}, parameters):
        outcome, _ = await gone_on(provider, browser, **before)
        assert isinstance(outcome, Redirection)


@pytest.mark.parametrize(
    "claims",
    [
        pytest.param('{"userinfo": {"email": null}}', id="the scope opens it"),
        pytest.param('{"userinfo": {"just_click_accept": null}}', id="there is no such claim"),
        pytest.param('{"id_token": {"auth_time": null}}', id="about nobody"),
    ],
)
async def test_claims_that_say_nothing_more_are_not_asked_about(provider: Provider, claims: str) -> None:
    browser = await signed_in(provider)
    await granted(provider, browser)

    outcome, _ = await gone_on(provider, browser, claims=claims)

    assert isinstance(outcome, Redirection)


async def test_one_persons_consent_is_not_anothers(provider: Provider) -> None:
    await granted(provider, await signed_in(provider))

    await asked(provider, await signed_in(provider, "bob@example.com"))


async def test_a_client_may_have_people_asked_always(provider: Provider) -> None:
    browser = await signed_in(provider)
    await granted(provider, browser, client_id=ALWAYS)

    await asked(provider, browser, client_id=ALWAYS)


@pytest.mark.parametrize("client_id", [ONCE, NEVER])
async def test_a_request_may_have_people_asked(provider: Provider, client_id: str) -> None:
    browser = await signed_in(provider)
    await granted(provider, browser, client_id=client_id, prompt="consent")

    await asked(provider, browser, client_id=client_id, prompt="consent")


@pytest.mark.parametrize("client_id", [ONCE, ALWAYS])
async def test_where_nobody_can_be_asked_consent_is_required(provider: Provider, client_id: str) -> None:
    outcome = await provider.begin(await signed_in(provider), client_id=client_id, prompt="none")

    assert isinstance(outcome, Redirection)
    assert dict(outcome.parameters)["error"] == "consent_required"


async def test_what_was_granted_is_enough_where_nobody_can_be_asked(provider: Provider) -> None:
    browser = await signed_in(provider)
    await granted(provider, browser)

    outcome = await provider.begin(browser, prompt="none")

    assert isinstance(outcome, Redirection)
    assert "code" in dict(outcome.parameters)


async def test_who_declines_goes_back_without_a_code_and_is_asked_again(provider: Provider) -> None:
    browser = await signed_in(provider)
    question, browser = await asked(provider, browser)

    answer = await answered(provider, browser, question, is_accepted=False)

    assert (answer["error"], answer["state"], "code" in answer) == ("access_denied", "s1", False)
    await asked(provider, browser)


async def test_the_question_says_who_asks_whom_for_what(provider: Provider) -> None:
    asked_before, browser = await asked(provider, await signed_in(provider))

    question = await provider.consent_step.question(provider.tenant, browser, asked_before.authorization_id)

    assert (question.client.client_id, question.user.email) == (ONCE, "alice@example.com")
    assert question.request.oauth_scopes == ("openid", "email")
    assert question.session.csrf_token == browser.csrf_token


async def test_going_on_does_not_go_round_the_question(provider: Provider) -> None:
    question, browser = await asked(provider, await signed_in(provider))
    by_id = Reference(authorization_id=question.authorization_id, parameters=Parameters(()))
    by_parameters = Reference(authorization_id="", parameters=calls())

    for reference in (by_id, by_parameters):
        outcome = await provider.refresh_step.refresh(provider.tenant, browser, reference)
        assert isinstance(outcome, ConsentQuestion)


async def test_answering_does_not_go_round_a_sign_in(provider: Provider) -> None:
    step, browser = await provider.page(await signed_in(provider), prompt="login")

    with pytest.raises(Unauthenticated):
        await provider.consent_step.answer(provider.tenant, browser, step.authorization_id, is_accepted=True)


async def test_who_signed_in_to_be_asked_does_not_sign_in_again_to_answer(provider: Provider) -> None:
    step, browser = await provider.page(await signed_in(provider), prompt="login", max_age="60")
    signed_in_again = await provider.submit(step, browser)
    assert isinstance(signed_in_again.outcome, ConsentQuestion)
    provider.clock.advance(timedelta(seconds=90))
    browser = await provider.with_csrf(replace(browser, cookie=signed_in_again.cookie))

    answer = await answered(provider, browser, signed_in_again.outcome)

    assert "code" in answer


async def test_an_answer_that_no_page_of_ours_made_changes_nothing(provider: Provider) -> None:
    question, browser = await asked(provider, await signed_in(provider))

    with pytest.raises(Unauthenticated):
        await answered(provider, replace(browser, csrf_token="forged"), question)

    assert "code" in await answered(provider, browser, question)


async def test_a_question_is_its_sessions_own(provider: Provider) -> None:
    question, _ = await asked(provider, await signed_in(provider))
    other = await signed_in(provider, "bob@example.com")

    with pytest.raises(Unauthenticated):
        await answered(provider, other, question)
    with pytest.raises(Unauthenticated):
        await provider.consent_step.question(provider.tenant, other, question.authorization_id)
    with pytest.raises(Unauthenticated):
        await provider.consent_step.question(
            provider.tenant, Browser(peer_address=ADDRESS), question.authorization_id
        )


async def test_a_question_is_answered_once(provider: Provider) -> None:
    question, browser = await asked(provider, await signed_in(provider))

    outcomes = await asyncio.gather(
        *(answered(provider, browser, question) for _ in range(10)), return_exceptions=True
    )

    assert sum(isinstance(outcome, dict) for outcome in outcomes) == 1
    assert all(isinstance(outcome, dict | Unauthenticated) for outcome in outcomes)


async def test_whoever_was_disabled_meanwhile_grants_nothing(provider: Provider) -> None:
    question, browser = await asked(provider, await signed_in(provider))
    user = await provider.users.find_by_email(provider.tenant, "alice@example.com")
    assert user is not None
    await provider.users.replace(replace(user, is_enabled=False))

    with pytest.raises(Unauthenticated):
        await answered(provider, browser, question)

    assert await provider.consents.of_user(provider.tenant, user.user_id) == []


async def test_a_grant_is_an_event(provider: Provider) -> None:
    await granted(provider, await signed_in(provider))

    events = await provider.store.of(EVENTS).page(provider.tenant.tenant_id)
    [event] = [event for event in events if event.type == "ConsentGranted"]
    assert (event.user_id, event.client_id, event.ip) == ("alice", ONCE, ADDRESS)
    assert event.text == "openid email"
