"""The terms of use between sign-in and code."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from identity.access.sessions.browser import Browser
from identity.authentication.authorization.asked import Reference
from identity.authentication.authorization.consent import ConsentQuestion
from identity.authentication.authorization.sign_in import SignedIn
from identity.authentication.authorization.terms_step import TermsAnswered, TermsDecision
from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.redirection import Redirection
from identity.directory.terms_of_use.terms import TERMS_ACCEPTANCES, TERMS_VERSIONS, TermsVersion
from identity.foundation.events.event import EVENTS, Event
from identity.foundation.events.kinds import EventType
from identity.foundation.vocabulary import ConsentMode
from server.platform.errors import Unauthenticated
from tests.identity.browsers import CALLBACK, ISSUER, NOON, Provider, alice, app

YEAR = timedelta(days=365)
TERMS = f"{ISSUER}oidc/authorize/terms"


@pytest.fixture
async def provider() -> Provider:
    provider = Provider()
    await provider.register(app(), app(id="wary", consent=ConsentMode.ALWAYS))
    await provider.admit(alice(created_at=NOON - YEAR))
    return provider


async def publish(
    provider: Provider,
    version: str = "1",
    *,
    holds_from: datetime = NOON - timedelta(days=30),
    is_accepted_again: bool = True,
    accept_until: datetime | None = None,
) -> None:
    await provider.store.of(TERMS_VERSIONS).insert(
        TermsVersion(
            tenant_id=provider.tenant.tenant_id,
            id=version,
            uri="https://example.com/terms",
            texts=(),
            holds_from=holds_from,
            is_accepted_again=is_accepted_again,
            accept_until=accept_until,
            published_at=holds_from,
        )
    )
    provider.terms.forget(provider.tenant)


async def signed_in(provider: Provider, **parameters: str) -> tuple[SignedIn, Browser]:
    step, browser = await provider.page(**parameters)
    outcome = await provider.submit(step, browser)
    return outcome, await provider.with_csrf(replace(browser, cookie=outcome.cookie))


async def answered(
    provider: Provider,
    outcome: object,
    browser: Browser,
    decision: TermsDecision = TermsDecision.ACCEPT,
    *,
    version: str = "1",
) -> tuple[TermsAnswered, Browser]:
    answer = await provider.terms_step.answer(
        provider.tenant, browser, asked(outcome), version=version, decision=decision
    )
    return answer, replace(browser, cookie=answer.cookie or browser.cookie)


async def gone_on(provider: Provider, browser: Browser) -> Redirection | ConsentQuestion:
    """Continue with the session of the browser."""
    step, browser = await provider.page(await provider.with_csrf(browser))
    assert step.is_signed_in
    reference = Reference(authorization_id=step.authorization_id, parameters=Parameters(()))
    return await provider.refresh_step.refresh(provider.tenant, browser, reference)


def asked(outcome: object) -> str:
    """Return the request that waits at the page with the terms."""
    assert isinstance(outcome, Redirection)
    assert outcome.uri == TERMS
    [(name, authorization_id)] = outcome.parameters
    assert name == "authorization_id"
    return authorization_id


def sent_back(outcome: object) -> dict[str, str]:
    assert isinstance(outcome, Redirection)
    assert outcome.uri == CALLBACK
    return dict(outcome.parameters)


async def events(provider: Provider, *types: EventType) -> list[Event]:
    found = await provider.store.of(EVENTS).page(provider.tenant.tenant_id, most=1000)
    return [event for event in found if event.type in types]


async def test_without_terms_a_sign_in_leads_back_at_once(provider: Provider) -> None:
    outcome, _ = await signed_in(provider)

    assert "code" in sent_back(outcome.outcome)


async def test_whoever_signs_in_accepts_the_terms_before_there_is_a_code(provider: Provider) -> None:
    await publish(provider)
    outcome, browser = await signed_in(provider)
    question = await provider.terms_step.question(provider.tenant, browser, asked(outcome.outcome))

    answer, _ = await answered(provider, outcome.outcome, browser)

    assert question.outstanding is not None
    assert (question.outstanding.version.id, question.outstanding.may_wait) == ("1", False)
    assert sent_back(answer.outcome).keys() == {"code", "state", "iss"}


async def test_an_acceptance_is_recorded_once_with_version_time_and_client(provider: Provider) -> None:
    await publish(provider)
    outcome, browser = await signed_in(provider)
    _, browser = await answered(provider, outcome.outcome, browser)

    again = await gone_on(provider, browser)

    [kept] = await provider.store.of(TERMS_ACCEPTANCES).page(provider.tenant.tenant_id)
    assert (kept.user_id, kept.version, kept.accepted_at, kept.client_id) == ("alice", "1", NOON, "app")
    assert "code" in sent_back(again)
    [event] = await events(provider, EventType.TERMS_ACCEPTED)
    assert (event.text, event.user_id, event.client_id) == ("1", "alice", "app")


async def test_nobody_is_signed_in_before_accepting(provider: Provider) -> None:
    await publish(provider)
    outcome, browser = await signed_in(provider)
    held = await provider.session(browser)

    answer, after = await answered(provider, outcome.outcome, browser)

    assert held is not None
    assert held.authentication is None
    released = await provider.session(after)
    assert answer.session is not None
    assert released is not None
    assert released.id == answer.session.id != held.id
    assert released.authentication == held.held
    assert (released.held, released.user_id, released.sid) == (None, "alice", held.sid)
    # A cookie from before the acceptance opens nothing.
    assert await provider.session(browser) is None


async def test_whoever_has_not_accepted_signs_in_again_at_the_next_request(provider: Provider) -> None:
    await publish(provider)
    _, browser = await signed_in(provider)

    step, _ = await provider.page(browser)
    silent = await provider.begin(browser, prompt="none")

    assert not step.is_signed_in
    assert sent_back(silent)["error"] == "login_required"


async def test_whoever_declines_is_signed_out_and_the_client_hears_of_it(provider: Provider) -> None:
    await publish(provider)
    outcome, browser = await signed_in(provider)

    answer, _ = await answered(provider, outcome.outcome, browser, TermsDecision.DECLINE)

    returned = sent_back(answer.outcome)
    assert (returned["error"], returned["state"], "code" in returned) == ("access_denied", "s1", False)
    assert answer.session is None
    assert await provider.session(browser) is None
    assert await provider.terms.accepted(provider.tenant, alice().user_id) == []
    [event] = await events(provider, EventType.TERMS_DECLINED)
    assert (event.text, event.user_id, event.client_id) == ("1", "alice", "app")


async def test_consent_is_asked_for_after_the_terms(provider: Provider) -> None:
    await publish(provider)
    outcome, browser = await signed_in(provider, client_id="wary")

    answer, browser = await answered(provider, outcome.outcome, browser)

    assert isinstance(answer.outcome, ConsentQuestion)
    browser = await provider.with_csrf(browser)
    consented = await provider.consent_step.answer(
        provider.tenant, browser, answer.outcome.authorization_id, is_accepted=True
    )
    assert "code" in sent_back(consented)


async def test_terms_that_hold_later_are_not_asked_for_yet(provider: Provider) -> None:
    await publish(provider, holds_from=NOON + timedelta(days=1))

    outcome, _ = await signed_in(provider)

    assert "code" in sent_back(outcome.outcome)


async def test_a_session_from_before_the_terms_is_asked_at_the_next_client(provider: Provider) -> None:
    _, browser = await signed_in(provider)
    await publish(provider)

    outcome = await gone_on(provider, browser)
    silent = await provider.begin(browser, prompt="none")
    browser = await provider.with_csrf(browser)
    answer, browser = await answered(provider, outcome, browser)

    assert sent_back(silent)["error"] == "interaction_required"
    assert "code" in sent_back(answer.outcome)
    # The session goes on.
    assert answer.cookie == ""
    assert "code" in sent_back(await provider.begin(browser, prompt="none"))


DEADLINE = NOON + timedelta(days=14)


async def test_until_the_deadline_users_may_decide_later(provider: Provider) -> None:
    await publish(provider, accept_until=DEADLINE)
    outcome, browser = await signed_in(provider)

    answer, browser = await answered(provider, outcome.outcome, browser, TermsDecision.LATER)

    assert "code" in sent_back(answer.outcome)
    # In this session the user is not asked again, in another one the user is.
    assert "code" in sent_back(await gone_on(provider, browser))
    assert "code" in sent_back(await provider.begin(browser, prompt="none"))
    other, _ = await signed_in(provider)
    asked(other.outcome)


async def test_after_the_deadline_nobody_decides_later(provider: Provider) -> None:
    await publish(provider, accept_until=DEADLINE)
    outcome, browser = await signed_in(provider)
    provider.clock.advance(timedelta(days=14))
    outcome, browser = await signed_in(provider)

    answer, _ = await answered(provider, outcome.outcome, browser, TermsDecision.LATER)

    assert asked(answer.outcome) == asked(outcome.outcome)
    assert (await provider.session(browser)) is not None
    assert "code" in sent_back((await answered(provider, outcome.outcome, browser))[0].outcome)


async def test_an_account_that_is_newer_than_the_terms_has_no_deadline(provider: Provider) -> None:
    await provider.admit(alice(id="new", email="new@example.com", created_at=NOON - timedelta(days=1)))
    await publish(provider, accept_until=DEADLINE)
    step, browser = await provider.page()
    outcome = await provider.submit(step, browser, email="new@example.com")
    browser = await provider.with_csrf(replace(browser, cookie=outcome.cookie))

    question = await provider.terms_step.question(provider.tenant, browser, asked(outcome.outcome))

    assert question.outstanding is not None
    assert not question.outstanding.may_wait


async def test_a_new_version_is_accepted_again(provider: Provider) -> None:
    await publish(provider)
    outcome, browser = await signed_in(provider)
    _, browser = await answered(provider, outcome.outcome, browser)
    await publish(provider, "2", holds_from=NOON - timedelta(days=1))

    question = await gone_on(provider, browser)

    answer, _ = await answered(provider, question, await provider.with_csrf(browser), version="2")
    assert "code" in sent_back(answer.outcome)
    accepted = await provider.terms.accepted(provider.tenant, alice().user_id)
    assert {each.version for each in accepted} == {"1", "2"}


async def test_a_version_that_is_not_accepted_again_asks_those_alone_who_accepted_none(
    provider: Provider,
) -> None:
    await provider.admit(alice(id="bob", email="bob@example.com", created_at=NOON - YEAR))
    await publish(provider)
    outcome, browser = await signed_in(provider)
    _, browser = await answered(provider, outcome.outcome, browser)
    await publish(provider, "1.1", holds_from=NOON - timedelta(days=1), is_accepted_again=False)

    before = await gone_on(provider, browser)
    step, other = await provider.page()
    bob = await provider.submit(step, other, email="bob@example.com")
    other = await provider.with_csrf(replace(other, cookie=bob.cookie))
    question = await provider.terms_step.question(provider.tenant, other, asked(bob.outcome))

    assert "code" in sent_back(before)
    assert question.outstanding is not None
    assert question.outstanding.version.id == "1.1"


async def test_an_answer_about_another_version_leads_to_the_present_one(provider: Provider) -> None:
    await publish(provider)
    outcome, browser = await signed_in(provider)
    await publish(provider, "2", holds_from=NOON - timedelta(days=1))

    answer, _ = await answered(provider, outcome.outcome, browser, version="1")

    assert asked(answer.outcome) == asked(outcome.outcome)
    assert await provider.terms.accepted(provider.tenant, alice().user_id) == []


async def test_a_question_is_answered_once_in_its_browser_and_by_its_page(provider: Provider) -> None:
    await publish(provider)
    outcome, browser = await signed_in(provider)
    _, other = await signed_in(provider)

    for stranger in (other, replace(browser, csrf_token="forged"), Browser()):
        with pytest.raises(Unauthenticated):
            await answered(provider, outcome.outcome, stranger)
    _, after = await answered(provider, outcome.outcome, browser)

    for later in (browser, await provider.with_csrf(after)):
        with pytest.raises(Unauthenticated):
            await answered(provider, outcome.outcome, later)


async def test_whoever_is_signed_out_everywhere_accepts_nothing(provider: Provider) -> None:
    await publish(provider)
    outcome, browser = await signed_in(provider)

    await provider.termination.end_all(provider.tenant, alice().user_id)

    with pytest.raises(Unauthenticated):
        await answered(provider, outcome.outcome, browser)


async def test_a_disabled_account_accepts_nothing(provider: Provider) -> None:
    await publish(provider)
    outcome, browser = await signed_in(provider)
    user = await provider.users.find(provider.tenant, alice().user_id)
    assert user is not None
    await provider.users.replace(replace(user, is_enabled=False))

    with pytest.raises(Unauthenticated):
        await answered(provider, outcome.outcome, browser)
    assert await provider.terms.accepted(provider.tenant, alice().user_id) == []
