import re
from datetime import timedelta

import pytest

from identity.access.client_authentication.authenticator import ClientCredentials
from identity.access.device import DEVICE_CODES, DEVICES
from identity.access.tokens.config import DeviceGrantConfig
from identity.access.tokens.token_set import TOKEN_SETS
from identity.directory.client import ClientId
from identity.directory.user import UserId
from identity.foundation.errors import (
    AccessDenied,
    AuthorizationPending,
    ExpiredToken,
    InvalidClient,
    InvalidGrant,
    InvalidRequest,
    InvalidScope,
    SlowDown,
    UnauthorizedClient,
)
from identity.foundation.vocabulary import AuthenticationMethod, GrantType
from identity.protocol.devices.user_codes import ALPHABET, canonical
from identity.protocol.devices.verification import Decision, accepted, declined, looked_at
from identity.protocol.unredeemed_codes import UnredeemedCodes
from server.platform.errors import NotFound, PermissionDenied, ResourceExhausted, Unauthenticated
from server.platform.records import RecordStore
from tests.identity.protocol.provider import ADA, TENANT, Provider

ISSUER = TENANT.issuer


async def decide(provider: Provider, user_code: str, decision: Decision) -> None:
    await provider.verification.decide(await provider.question(user_code), decision)


async def test_a_device_is_told_what_to_show_and_how_often_to_ask(provider: Provider) -> None:
    started = await provider.start_device()

    assert re.fullmatch(rf"[{ALPHABET}]{{4}}-[{ALPHABET}]{{4}}", started.user_code)
    assert f"{ISSUER}device" == started.verification_uri
    assert f"{ISSUER}device?code={started.user_code}" == started.verification_uri_complete
    assert (timedelta(seconds=300), 5, 64) == (started.lifetime, started.interval, len(started.device_code))


async def test_neither_code_is_kept(provider: Provider, records: RecordStore) -> None:
    started = await provider.start_device()

    kept = repr(await records.of(DEVICE_CODES).page(TENANT.tenant_id))

    assert started.device_code not in kept
    assert canonical(started.user_code) not in kept


async def test_a_code_is_read_whatever_its_case_and_what_stands_between_the_letters() -> None:
    assert canonical(" bcdf ghjk") == canonical("BCDF-GHJK") == "BCDFGHJK"


async def test_a_device_that_was_let_in_gets_tokens_of_its_own(
    provider: Provider, records: RecordStore
) -> None:
    started = await provider.start_device(oauth_scopes=("openid", "email"), nonce="n1")
    with pytest.raises(AuthorizationPending):
        await provider.poll(started)

    await decide(provider, started.user_code.lower(), accepted)
    issued = await provider.poll(started)

    [device] = await records.of(DEVICES).find(TENANT.tenant_id, "user_id", ADA.id)
    access, identity = await provider.claims(issued.access_token), await provider.claims(issued.id_token)
    assert device.id == access["did"] == identity["did"]
    assert (device.name, device.peer_address) == (device.id, "203.0.113.7")
    assert (identity["nonce"], identity["sub"]) == ("n1", ADA.id)
    assert "sid" not in identity


async def test_the_tokens_of_a_device_outlive_the_session_that_let_it_in(
    provider: Provider, records: RecordStore
) -> None:
    started = await provider.start_device()
    await decide(provider, started.user_code, accepted)
    issued = await provider.poll(started)

    [token_set] = await records.of(TOKEN_SETS).page(TENANT.tenant_id)

    assert token_set.sid == ""
    provider.clock.advance(timedelta(hours=71))
    assert (await provider.refresh(issued.refresh_token)).access_token


async def test_a_code_is_worth_nothing_once_what_the_person_granted_is_taken_back(
    provider: Provider, records: RecordStore
) -> None:
    started, others = await provider.start_device(), await provider.start_device()
    await decide(provider, started.user_code, accepted)
    codes = UnredeemedCodes(records)

    await codes.remove(TENANT, UserId("somebody else"), ClientId("app"))
    await codes.remove(TENANT, UserId(ADA.id), ClientId("app"))

    with pytest.raises(InvalidGrant):
        await provider.poll(started)
    with pytest.raises(AuthorizationPending):
        await provider.poll(others)


async def test_a_device_that_asks_too_often_waits_five_seconds_more_each_time(provider: Provider) -> None:
    started = await provider.start_device()
    with pytest.raises(AuthorizationPending):
        await provider.poll(started)

    provider.clock.advance(timedelta(seconds=4))
    with pytest.raises(SlowDown):
        await provider.poll(started)
    provider.clock.advance(timedelta(seconds=9))
    with pytest.raises(SlowDown):
        await provider.poll(started)

    provider.clock.advance(timedelta(seconds=15))
    with pytest.raises(AuthorizationPending):
        await provider.poll(started)


async def test_impatience_never_costs_the_code(provider: Provider) -> None:
    started = await provider.start_device()
    for _ in range(10):
        with pytest.raises((AuthorizationPending, SlowDown)):
            await provider.poll(started)

    await decide(provider, started.user_code, accepted)

    assert (await provider.poll(started)).access_token


async def test_a_device_that_was_declined_is_told(provider: Provider) -> None:
    started = await provider.start_device()

    await decide(provider, started.user_code, declined)

    with pytest.raises(AccessDenied):
        await provider.poll(started)


async def test_an_expired_code_is_told_from_one_that_never_was(provider: Provider) -> None:
    started = await provider.start_device()
    provider.clock.advance(timedelta(seconds=300))

    with pytest.raises(ExpiredToken):
        await provider.poll(started)
    with pytest.raises(InvalidGrant):
        await provider.ask(GrantType.DEVICE_CODE, device_code="x" * 64)


async def test_a_device_code_is_good_once(provider: Provider) -> None:
    started = await provider.start_device()
    await decide(provider, started.user_code, accepted)
    await provider.poll(started)

    with pytest.raises(InvalidGrant):
        await provider.poll(started)


async def test_r11_who_has_to_confirm_an_address_lets_no_device_in(provider: Provider) -> None:
    started = await provider.start_device()
    await decide(provider, started.user_code, accepted)
    await provider.change_user(is_self_registered=True, is_email_verified=False)

    with pytest.raises(InvalidGrant, match="confirm"):
        await provider.poll(started)


async def test_the_person_sees_who_asks_for_what_before_deciding(provider: Provider) -> None:
    started = await provider.start_device(oauth_scopes=("openid", "email"))

    asked_for = await provider.verification.decide(await provider.question(started.user_code), looked_at)

    assert (asked_for.client.client_id, asked_for.client.name) == ("app", "The app")
    assert asked_for.code.oauth_scopes == ("openid", "email")
    assert ("203.0.113.7", provider.clock.now()) == (asked_for.code.peer_address, asked_for.code.started_at)
    with pytest.raises(AuthorizationPending):
        await provider.poll(started)


async def test_a_decision_is_made_once(provider: Provider) -> None:
    started = await provider.start_device()
    await decide(provider, started.user_code, declined)

    with pytest.raises(NotFound):
        await decide(provider, started.user_code, accepted)


async def test_nobody_decides_about_an_expired_code(provider: Provider) -> None:
    started = await provider.start_device()
    provider.clock.advance(timedelta(seconds=300))

    with pytest.raises(NotFound):
        await decide(provider, started.user_code, accepted)


@pytest.mark.parametrize("browser", [{"cookie": ""}, {"cookie": "x" * 64}, {"csrf_token": "x" * 32}])
async def test_only_somebody_who_is_signed_in_and_on_our_page_decides(
    provider: Provider, browser: dict[str, str]
) -> None:
    started = await provider.start_device()
    question = await provider.question(started.user_code, **browser)

    with pytest.raises(Unauthenticated):
        await provider.verification.decide(question, accepted)


async def test_a_session_that_nobody_has_signed_in_to_decides_nothing(provider: Provider) -> None:
    started = await provider.start_device()
    cookie, session = await provider.sessions.begin(TENANT, "198.51.100.2")
    question = await provider.question(started.user_code, cookie=cookie, csrf_token=session.csrf_token)

    with pytest.raises(Unauthenticated):
        await provider.verification.decide(question, accepted)


async def test_a_device_of_a_disabled_client_is_not_let_in(provider: Provider) -> None:
    started = await provider.start_device()
    await provider.change_client(is_enabled=False)

    with pytest.raises(NotFound):
        await decide(provider, started.user_code, accepted)


async def test_a_device_that_is_thrown_out_loses_its_tokens(provider: Provider) -> None:
    started = await provider.start_device()
    await decide(provider, started.user_code, accepted)
    issued = await provider.poll(started)

    await provider.sets.remove_of_device(TENANT, (await provider.claims(issued.access_token))["did"])

    assert not await provider.is_active(issued.access_token)
    assert not await provider.is_active(issued.refresh_token)


async def test_a_poll_without_a_device_code_is_malformed(provider: Provider) -> None:
    with pytest.raises(InvalidRequest):
        await provider.ask(GrantType.DEVICE_CODE)


async def test_a_decision_costs_work(provider: Provider) -> None:
    started = await provider.start_device()
    question = await provider.question(started.user_code)
    idle = type(question)(
        tenant=TENANT, browser=question.browser, user_code=started.user_code, proof_of_work="wrong"
    )

    with pytest.raises(PermissionDenied):
        await provider.verification.decide(idle, accepted)


async def test_after_five_wrong_codes_a_right_one_has_to_wait(provider: Provider) -> None:
    started = await provider.start_device()
    for _ in range(5):
        with pytest.raises(NotFound):
            await decide(provider, "BBBB-BBBB", accepted)

    with pytest.raises(ResourceExhausted):
        await decide(provider, started.user_code, accepted)

    provider.clock.advance(timedelta(minutes=15))
    later = await provider.start_device()
    await decide(provider, later.user_code, accepted)
    assert (await provider.poll(later)).access_token


async def test_a_right_code_does_not_forgive_the_wrong_ones(provider: Provider) -> None:
    own = await provider.start_device()
    for _ in range(4):
        with pytest.raises(NotFound):
            await decide(provider, "BBBB-BBBB", accepted)
    await decide(provider, own.user_code, looked_at)
    with pytest.raises(NotFound):
        await decide(provider, "BBBB-BBBB", accepted)

    with pytest.raises(ResourceExhausted):
        await decide(provider, own.user_code, looked_at)


async def test_an_address_may_have_to_wait_between_two_starts(provider: Provider) -> None:
    config = DeviceGrantConfig(start_limit_secs=30)
    slow = Provider(provider.records, provider.clock, provider.keys, device_grant=config)
    await slow.start_device()

    with pytest.raises(ResourceExhausted) as refusal:
        await slow.start_device()

    assert refusal.value.metadata == {"retry_after_secs": "30"}
    assert await slow.start_device(peer_address="203.0.113.8")
    slow.clock.advance(timedelta(seconds=30))
    assert await slow.start_device()


async def test_a_client_may_not_start_without_the_grant(provider: Provider) -> None:
    await provider.change_client(grant_types=frozenset({GrantType.AUTHORIZATION_CODE}))

    with pytest.raises(UnauthorizedClient):
        await provider.start_device()


async def test_default_scopes_are_added_to_those_that_a_device_asks_for(provider: Provider) -> None:
    await provider.change_client(default_scopes=("email",))
    started = await provider.start_device(oauth_scopes=("openid",))

    asked_for = await provider.verification.decide(await provider.question(started.user_code), looked_at)

    assert asked_for.code.oauth_scopes == ("openid", "email")


async def test_a_client_may_not_start_with_scopes_of_others(provider: Provider) -> None:
    with pytest.raises(InvalidScope):
        await provider.start_device(oauth_scopes=("process:deploy",))


async def test_a_client_has_to_prove_who_it_is_to_start(provider: Provider) -> None:
    nobody = ClientCredentials(AuthenticationMethod.CLIENT_SECRET_BASIC, "app", "wrong")

    with pytest.raises(InvalidClient):
        await provider.start_device(credentials=nobody)
