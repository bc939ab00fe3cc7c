"""Step-up by `acr_values`: a user with a stronger factor than the session showed signs in again."""

from dataclasses import replace

import pytest

from identity.access.sessions.browser import Browser
from identity.authentication.authorization.consent import ConsentQuestion
from identity.authentication.authorization.start import SignInStep
from identity.authentication.requests.redirection import Redirection
from identity.directory.user import UserId
from identity.foundation.vocabulary import AuthenticationContext, ConsentMode
from tests.identity.browsers import ADDRESS, NEW_BROWSER, Provider, alice, app

FEDERATED, PASSWORD, SEVERAL, RESISTANT = AuthenticationContext


async def signed_in(provider: Provider, acr: str, **factors: bool) -> Browser:
    await provider.register(app())
    await provider.admit(alice(**factors))
    cookie, session = await provider.sessions.sign_in(
        provider.tenant, None, UserId("alice"), amr=("pwd",), acr=acr, peer_address=ADDRESS
    )
    return replace(NEW_BROWSER, cookie=cookie, csrf_token=session.csrf_token)


@pytest.mark.parametrize(
    ("proved", "asked", "factors", "is_enough"),
    [
        pytest.param(PASSWORD, SEVERAL, {"has_one_time_codes": True}, False, id="a code is missing"),
        pytest.param(PASSWORD, SEVERAL, {"has_passkey": True}, False, id="a passkey is missing"),
        pytest.param(FEDERATED, PASSWORD, {}, True, id="a provider is as strong as a password"),
        pytest.param(FEDERATED, SEVERAL, {"has_passkey": True}, False, id="a provider is one factor"),
        pytest.param(PASSWORD, FEDERATED, {"has_passkey": True}, True, id="a password is as strong"),
        pytest.param(PASSWORD, SEVERAL, {}, True, id="there is nothing more to prove"),
        pytest.param(PASSWORD, RESISTANT, {"has_one_time_codes": True}, False, id="as far as the person can"),
        pytest.param(SEVERAL, RESISTANT, {"has_one_time_codes": True}, True, id="the person cannot more"),
        pytest.param(SEVERAL, RESISTANT, {"has_passkey": True}, False, id="a code is no passkey"),
        pytest.param(RESISTANT, SEVERAL, {"has_passkey": True}, True, id="more than is asked for"),
        pytest.param(PASSWORD, f"{RESISTANT} {PASSWORD}", {"has_passkey": True}, True, id="the least counts"),
        pytest.param("", SEVERAL, {"has_passkey": True}, False, id="nothing is known of the session"),
        pytest.param(PASSWORD, "urn:example:gold", {"has_passkey": True}, True, id="unheard-of"),
        pytest.param(PASSWORD, "", {"has_passkey": True}, True, id="nothing is asked for"),
    ],
)
async def test_who_can_prove_what_is_asked_for_is_asked_to(
    proved: str, asked: str, factors: dict[str, bool], *, is_enough: bool
) -> None:
    provider = Provider()
    browser = await signed_in(provider, proved, **factors)

    step = await provider.begin(browser, acr_values=asked)

    assert isinstance(step, SignInStep)
    assert step.is_signed_in is is_enough


async def test_without_a_page_nobody_can_be_asked_to() -> None:
    provider = Provider()
    browser = await signed_in(provider, PASSWORD, has_one_time_codes=True)

    redirection = await provider.begin(browser, acr_values=SEVERAL, prompt="none")

    assert isinstance(redirection, Redirection)
    assert dict(redirection.parameters)["error"] == "login_required"


async def test_whoever_has_just_signed_in_is_not_asked_again_by_the_question_of_consent() -> None:
    provider = Provider()
    await provider.register(app(consent=ConsentMode.ALWAYS))
    await provider.admit(alice(has_one_time_codes=True))
    step, browser = await provider.page(acr_values=SEVERAL)
    signed_in = await provider.submit(step, browser)
    assert isinstance(signed_in.outcome, ConsentQuestion)
    browser = await provider.with_csrf(replace(browser, cookie=signed_in.cookie))

    redirection = await provider.consent_step.answer(
        provider.tenant, browser, signed_in.outcome.authorization_id, is_accepted=True
    )

    assert "code" in dict(redirection.parameters)
