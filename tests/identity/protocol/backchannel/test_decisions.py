"""Users decide about requests of clients, and clients get tokens: CIBA Core 1.0 §8, §10, §11."""

from dataclasses import replace
from datetime import timedelta

import pytest

from identity.access.client_authentication.authenticator import ClientCredentials
from identity.access.tokens.token_set import TOKEN_SETS
from identity.directory.client import ClientId
from identity.directory.user import UserId
from identity.foundation.errors import (
    AccessDenied,
    AuthorizationPending,
    ExpiredToken,
    InvalidGrant,
    InvalidRequest,
    SlowDown,
)
from identity.foundation.events.event import EVENTS
from identity.foundation.events.kinds import EventType
from identity.foundation.vocabulary import AuthenticationContext, AuthenticationMethod, GrantType
from identity.protocol.unredeemed_codes import UnredeemedCodes
from server.platform.errors import NotFound, PermissionDenied, Unauthenticated
from tests.identity.protocol.backchannel.bank import HERE, Bank
from tests.identity.protocol.provider import ADA, SECRET, TENANT, app

MFA = AuthenticationContext.SEVERAL_FACTORS


async def test_the_client_of_an_accepted_request_gets_tokens_of_the_user(bank: Bank) -> None:
    started = await bank.start()
    with pytest.raises(AuthorizationPending):
        await bank.poll(started)

    await bank.decide(started)
    issued = await bank.poll(started)

    claims = await bank.provider.claims(issued.id_token)
    assert (claims["sub"], claims["aud"], claims["amr"]) == (ADA.id, "app", ["pwd"])
    assert claims["auth_time"] == int(bank.provider.clock.now().timestamp())
    assert issued.oauth_scopes == ("openid", "email")
    assert {"sid", "nonce", "urn:openid:params:jwt:claim:auth_req_id"}.isdisjoint(claims)


async def test_an_approval_is_a_security_event_with_the_address_of_the_user(bank: Bank) -> None:
    await bank.decide(await bank.start(), is_accepted=False)
    await bank.decide(await bank.start())

    found = await bank.provider.records.of(EVENTS).page(TENANT.tenant_id)

    assert [(event.type, event.user_id, event.client_id, event.ip, event.text) for event in found] == [
        (EventType.CONSENT_GRANTED, ADA.id, "app", HERE, "openid email")
    ]


async def test_requests_beside_many_decided_ones_are_shown(bank: Bank) -> None:
    for _ in range(60):
        await bank.decide(await bank.start())
    await bank.start()

    assert len(await bank.waiting()) == 1


async def test_the_tokens_outlive_the_session_in_which_the_user_accepted(bank: Bank) -> None:
    started = await bank.start()
    await bank.decide(started)
    issued = await bank.poll(started)

    [token_set] = await bank.provider.records.of(TOKEN_SETS).page(TENANT.tenant_id)

    assert token_set.sid == ""
    assert (await bank.provider.refresh(issued.refresh_token)).access_token


async def test_a_client_that_polls_too_often_waits_five_seconds_more_each_time(bank: Bank) -> None:
    started = await bank.start()
    with pytest.raises(AuthorizationPending):
        await bank.poll(started)

    bank.provider.clock.advance(timedelta(seconds=4))
    with pytest.raises(SlowDown):
        await bank.poll(started)
    bank.provider.clock.advance(timedelta(seconds=10))
    with pytest.raises(AuthorizationPending):
        await bank.poll(started)


async def test_the_client_of_a_declined_request_is_told(bank: Bank) -> None:
    started = await bank.start()

    await bank.decide(started, is_accepted=False)

    with pytest.raises(AccessDenied):
        await bank.poll(started)


async def test_an_auth_req_id_is_good_once_and_until_it_expires(bank: Bank) -> None:
    started, late = await bank.start(), await bank.start()
    await bank.decide(started)
    await bank.decide(late)
    await bank.poll(started)

    with pytest.raises(InvalidGrant):
        await bank.poll(started)
    bank.provider.clock.advance(timedelta(seconds=300))
    with pytest.raises(ExpiredToken):
        await bank.poll(late)


async def test_an_auth_req_id_is_good_for_its_client_alone(bank: Bank) -> None:
    await bank.provider.add_client(replace(app(bank.provider.secrets), id="other"))
    other = ClientCredentials(AuthenticationMethod.CLIENT_SECRET_BASIC, "other", SECRET)
    started = await bank.start()
    await bank.decide(started)

    with pytest.raises(InvalidGrant):
        await bank.poll(started, credentials=other)
    with pytest.raises(InvalidGrant):
        await bank.provider.ask(GrantType.CIBA, auth_req_id="x" * 64)
    with pytest.raises(InvalidRequest):
        await bank.provider.ask(GrantType.CIBA)


async def test_the_user_sees_who_asks_for_what(bank: Bank) -> None:
    first = await bank.start(binding_message="XQ-17")
    bank.provider.clock.advance(timedelta(seconds=1))
    await bank.start()

    waiting, _ = await bank.waiting()

    assert (waiting.client.name, waiting.request.binding_message) == ("The app", "XQ-17")
    assert (waiting.request.id, waiting.request.oauth_scopes) == (bank.id_of(first), ("openid", "email"))


async def test_requests_that_are_decided_or_expired_do_not_wait(bank: Bank) -> None:
    await bank.decide(await bank.start())
    await bank.decide(await bank.start(), is_accepted=False)
    expired = await bank.start()
    bank.provider.clock.advance(timedelta(seconds=300))

    assert await bank.waiting() == []
    with pytest.raises(NotFound):
        await bank.decide(expired)


async def test_a_decision_is_made_once(bank: Bank) -> None:
    started = await bank.start()
    await bank.decide(started, is_accepted=False)

    with pytest.raises(NotFound):
        await bank.decide(started)


async def test_only_the_user_sees_a_request_and_decides_about_it(bank: Bank) -> None:
    await bank.add_user("bob", "bob@example.com")
    bob, started = await bank.browser("bob"), await bank.start()

    assert await bank.waiting(bob) == []
    with pytest.raises(NotFound):
        await bank.decide(started, browser=bob)
    with pytest.raises(AuthorizationPending):
        await bank.poll(started)


@pytest.mark.parametrize("change", [{"cookie": ""}, {"cookie": "x" * 64}, {"csrf_token": "x" * 32}])
async def test_only_a_page_of_ours_decides_in_the_session_of_the_user(
    bank: Bank, change: dict[str, str]
) -> None:
    started, browser = await bank.start(), await bank.browser()

    with pytest.raises(Unauthenticated):
        await bank.decide(started, browser=replace(browser, **change))


async def test_nobody_sees_requests_without_a_session(bank: Bank) -> None:
    browser = await bank.browser()
    await bank.provider.change_user(is_enabled=False)

    for anybody in (browser, replace(browser, cookie="")):
        with pytest.raises(Unauthenticated):
            await bank.waiting(anybody)


async def test_a_request_of_a_disabled_client_is_not_shown(bank: Bank) -> None:
    started = await bank.start()
    await bank.provider.change_client(is_enabled=False)

    assert await bank.waiting() == []
    with pytest.raises(NotFound):
        await bank.decide(started)


async def test_a_stronger_sign_in_comes_first_where_the_client_asks_for_it(bank: Bank) -> None:
    await bank.provider.change_user(has_one_time_codes=True)
    started = await bank.start(acr_values=MFA)
    strong = await bank.browser(amr=("pwd", "otp", "mfa"), acr=MFA)

    [weak] = await bank.waiting()
    with pytest.raises(PermissionDenied):
        await bank.decide(started)
    [enough] = await bank.waiting(strong)
    await bank.decide(started, browser=strong)

    assert weak.sign_in_again is not None
    assert weak.sign_in_again.acr_values == (MFA,)
    assert enough.sign_in_again is None
    assert (await bank.provider.claims((await bank.poll(started)).id_token))["acr"] == MFA


async def test_a_user_without_a_stronger_factor_accepts_because_acr_values_are_voluntary(bank: Bank) -> None:
    started = await bank.start(acr_values=MFA)

    await bank.decide(started)

    claims = await bank.provider.claims((await bank.poll(started)).id_token)
    assert claims["acr"] == AuthenticationContext.PASSWORD


async def test_a_client_that_demands_a_second_factor_gets_no_tokens_without_it(bank: Bank) -> None:
    await bank.provider.change_client(requires_mfa=True)
    started = await bank.start()

    [waiting] = await bank.waiting()
    with pytest.raises(PermissionDenied):
        await bank.decide(started)
    await bank.decide(started, is_accepted=False)

    assert waiting.sign_in_again is not None
    assert not waiting.sign_in_again.is_possible


@pytest.mark.parametrize("max_age", [0, 60])
async def test_an_old_sign_in_is_repeated_where_the_client_asks_for_it(bank: Bank, max_age: int) -> None:
    await bank.provider.change_client(default_max_age=max_age)
    old = await bank.browser()
    bank.provider.clock.advance(timedelta(seconds=max_age + 1))
    started = await bank.start()
    bank.provider.clock.advance(timedelta(seconds=10))

    [waiting] = await bank.waiting(old)
    with pytest.raises(PermissionDenied):
        await bank.decide(started, browser=old)
    await bank.decide(started, browser=await bank.browser())

    assert waiting.sign_in_again is not None
    assert waiting.sign_in_again.max_age == max_age
    assert (await bank.poll(started)).access_token


async def test_an_accepted_request_is_worth_nothing_once_the_consent_is_withdrawn(bank: Bank) -> None:
    started, others = await bank.start(), await bank.start()
    await bank.decide(started)

    await UnredeemedCodes(bank.provider.records).remove(TENANT, UserId(ADA.id), ClientId("app"))

    with pytest.raises(InvalidGrant):
        await bank.poll(started)
    with pytest.raises(AuthorizationPending):
        await bank.poll(others)


async def test_a_user_who_is_disabled_meanwhile_gives_no_tokens(bank: Bank) -> None:
    started = await bank.start()
    await bank.decide(started)
    await bank.provider.change_user(is_enabled=False)

    with pytest.raises(InvalidGrant):
        await bank.poll(started)
