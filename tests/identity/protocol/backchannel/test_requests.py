"""Clients ask for a user who is elsewhere: CIBA Core 1.0 §7."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from identity.access.client_authentication.authenticator import ClientCredentials
from identity.authentication.requests.parameters import Parameters
from identity.directory.user import USERS
from identity.foundation.errors import (
    AuthorizationPending,
    ExpiredToken,
    InvalidBindingMessage,
    InvalidClient,
    InvalidRequest,
    InvalidScope,
    UnauthorizedClient,
    UnknownUserId,
)
from identity.foundation.vocabulary import AuthenticationMethod, GrantType, SecurityProfile
from identity.protocol.backchannel.config import BackchannelConfig
from server.platform.errors import ResourceExhausted
from tests.identity.protocol.backchannel.bank import Bank
from tests.identity.protocol.provider import ACME, ADA, AS_APP, SECRET, TENANT, app

NOBODY = "nobody@example.com"


async def add_client(bank: Bank, client_id: str, **fields: Any) -> ClientCredentials:
    await bank.provider.add_client(replace(app(bank.provider.secrets), id=client_id, **fields))
    return ClientCredentials(AuthenticationMethod.CLIENT_SECRET_BASIC, client_id, SECRET)


async def test_a_client_is_told_for_how_long_and_how_often_to_ask(bank: Bank) -> None:
    started = await bank.start()

    assert (timedelta(seconds=300), 5, 64) == (started.lifetime, started.interval, len(started.auth_req_id))


async def test_the_auth_req_id_is_not_kept(bank: Bank) -> None:
    started = await bank.start()

    assert started.auth_req_id not in await bank.kept()


async def test_the_user_gets_a_letter_that_leads_to_the_page(bank: Bank) -> None:
    await bank.start(binding_message="XQ-17")

    [letter] = bank.mailbox.letters
    assert letter.to == ADA.email
    assert f"{TENANT.issuer}sign-in-requests" == bank.mailbox.link()
    assert "The app asks you to confirm that it is you." in letter.text
    assert "XQ-17" not in letter.text


async def test_further_requests_within_a_minute_send_no_further_letter(bank: Bank) -> None:
    await bank.start()
    await bank.start()
    assert len(bank.mailbox.letters) == 1

    bank.provider.clock.advance(timedelta(minutes=1))
    await bank.start()

    assert len(bank.mailbox.letters) == 2


async def test_an_unknown_address_looks_like_that_of_a_user_who_does_not_react(bank: Bank) -> None:
    known, unknown = await bank.start(), await bank.start(login_hint=NOBODY)

    assert (known.lifetime, known.interval) == (unknown.lifetime, unknown.interval)
    assert len(bank.pauses) == 2
    for started in (known, unknown):
        with pytest.raises(AuthorizationPending):
            await bank.poll(started)
    bank.provider.clock.advance(timedelta(seconds=300))
    for started in (known, unknown):
        with pytest.raises(ExpiredToken):
            await bank.poll(started)


@pytest.mark.parametrize("hint", [ADA.email, NOBODY])
async def test_known_and_unknown_addresses_have_the_same_bound(bank: Bank, hint: str) -> None:
    for _ in range(3):
        await bank.start(login_hint=hint)

    with pytest.raises(ResourceExhausted) as refusal:
        await bank.start(login_hint=hint.upper())

    assert refusal.value.metadata == {"retry_after_secs": "300"}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"is_enabled": False}, id="disabled"),
        pytest.param({"is_self_registered": True, "is_email_verified": False}, id="unconfirmed"),
        pytest.param({"groups": ("writers",)}, id="in no group of the client"),
    ],
)
async def test_a_user_who_could_not_sign_in_counts_as_unknown(bank: Bank, change: dict[str, Any]) -> None:
    await bank.provider.change_client(restrict_group_prefix="anal")
    token = (await bank.provider.sign_in()).id_token
    await bank.provider.change_user(**change)

    started = await bank.start()

    with pytest.raises(AuthorizationPending):
        await bank.poll(started)
    assert bank.mailbox.letters == []
    with pytest.raises(UnknownUserId):
        await bank.start(id_token_hint=token)


async def test_an_id_token_of_the_client_names_its_user(bank: Bank) -> None:
    token = (await bank.provider.sign_in()).id_token

    await bank.start(id_token_hint=token)

    assert len(await bank.waiting()) == 1


async def test_an_id_token_of_another_client_names_nobody(bank: Bank) -> None:
    token = (await bank.provider.sign_in()).id_token
    other = await add_client(bank, "other")

    with pytest.raises(InvalidRequest, match="of this client"):
        await bank.start(credentials=other, id_token_hint=token)


@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param({"login_hint": None}, id="none"),
        pytest.param({"login_hint": ADA.email, "id_token_hint": "e30.e30.e30"}, id="two"),
        pytest.param({"login_hint": None, "login_hint_token": "e30.e30.e30"}, id="a token"),
        pytest.param({"login_hint": "ada"}, id="no address"),
        pytest.param({"id_token_hint": "e30.e30.e30"}, id="no ID token"),
    ],
)
async def test_a_request_has_one_hint_of_a_kind_that_is_supported(
    bank: Bank, parameters: dict[str, str | None]
) -> None:
    with pytest.raises(InvalidRequest):
        await bank.start(**parameters)


async def test_an_access_token_is_no_hint(bank: Bank) -> None:
    token = (await bank.provider.sign_in()).access_token

    with pytest.raises(InvalidRequest):
        await bank.start(id_token_hint=token)


async def test_a_user_of_another_tenant_is_not_reached(bank: Bank) -> None:
    other = replace(
        ADA, tenant_id=ACME.tenant_id, id="eve", email="eve@example.com", preferred_username="eve"
    )
    await bank.provider.records.of(USERS).insert(other)

    await bank.start(login_hint="eve@example.com")

    assert bank.mailbox.letters == []
    assert await bank.waiting(await bank.browser("eve", tenant=ACME), tenant=ACME) == []


@pytest.mark.parametrize("message", ["XQ-17", "Überweisung 1.000 €", "轉帳 1000", "x" * 100])
async def test_a_short_text_binds_both_devices(bank: Bank, message: str) -> None:
    await bank.start(binding_message=message)

    [waiting] = await bank.waiting()
    assert waiting.request.binding_message == message


@pytest.mark.parametrize("message", ["x" * 101, "a\nb", "a\u202eb", "a\u200bb", "\ufdd0"])
async def test_a_text_that_a_page_cannot_show_is_refused(bank: Bank, message: str) -> None:
    with pytest.raises(InvalidBindingMessage):
        await bank.start(binding_message=message)


@pytest.mark.parametrize("scope", [None, "email", "openid process:deploy", "openid " + "x" * 512])
async def test_a_request_is_for_openid_and_scopes_of_the_client(bank: Bank, scope: str | None) -> None:
    with pytest.raises(InvalidScope):
        await bank.start(scope=scope)


@pytest.mark.parametrize(("asked", "given"), [("120", 120), ("1", 30), ("999999999", 900)])
async def test_a_client_asks_for_a_lifetime_within_bounds(bank: Bank, asked: str, given: int) -> None:
    started = await bank.start(requested_expiry=asked)

    assert started.lifetime == timedelta(seconds=given)


@pytest.mark.parametrize("asked", ["0", "-1", "1.5", "soon", "9" * 10])
async def test_a_lifetime_that_is_no_positive_number_is_refused(bank: Bank, asked: str) -> None:
    with pytest.raises(InvalidRequest):
        await bank.start(requested_expiry=asked)


async def test_a_client_proves_who_it_is_and_has_the_grant(bank: Bank) -> None:
    nobody = ClientCredentials(AuthenticationMethod.CLIENT_SECRET_BASIC, "app", "wrong")
    other = await add_client(bank, "other", grant_types=frozenset({GrantType.AUTHORIZATION_CODE}))

    with pytest.raises(InvalidClient):
        await bank.start(credentials=nobody)
    with pytest.raises(UnauthorizedClient):
        await bank.start(credentials=other)


async def test_a_client_that_has_to_sign_sends_no_plain_request(bank: Bank) -> None:
    await bank.provider.change_client(requires_signed_request=True)

    with pytest.raises(InvalidRequest):
        await bank.start()


async def test_a_client_of_a_profile_sends_no_plain_request(bank: Bank) -> None:
    await bank.provider.change_client(security_profile=SecurityProfile.FAPI_2)

    with pytest.raises((InvalidRequest, InvalidClient)):
        await bank.start()


async def test_a_repeated_parameter_is_refused(bank: Bank) -> None:
    twice = Parameters.of([("scope", "openid"), ("login_hint", ADA.email), ("login_hint", ADA.email)])

    with pytest.raises(InvalidRequest, match="repeated"):
        await bank.authentications.start(TENANT, AS_APP, twice)


async def test_a_client_has_three_open_requests_to_a_user(bank: Bank) -> None:
    other = await add_client(bank, "other")

    outcomes = await asyncio.gather(*(bank.start() for _ in range(8)), return_exceptions=True)

    assert sum(isinstance(outcome, ResourceExhausted) for outcome in outcomes) == 5
    assert len(await bank.waiting()) == 3
    await bank.start(credentials=other)
    bank.provider.clock.advance(timedelta(seconds=300))
    await bank.start()


async def test_all_clients_together_have_ten_open_requests_to_a_user(bank: Bank) -> None:
    clients = [await add_client(bank, f"client-{number}") for number in range(5)]
    for client in clients[:3]:
        for _ in range(3):
            await bank.start(credentials=client)
    await bank.start(credentials=clients[3])

    with pytest.raises(ResourceExhausted):
        await bank.start(credentials=clients[4])

    await bank.add_user("bob", "bob@example.com")
    await bank.start(credentials=clients[4], login_hint="bob@example.com")


async def test_a_declined_request_counts_until_it_would_have_expired(bank: Bank) -> None:
    for _ in range(3):
        await bank.decide(await bank.start(), is_accepted=False)

    with pytest.raises(ResourceExhausted):
        await bank.start()


async def test_an_accepted_request_does_not_count(bank: Bank) -> None:
    for _ in range(5):
        await bank.decide(await bank.start())

    assert await bank.start()


async def test_a_short_lifetime_gives_no_further_requests(bank: Bank) -> None:
    for _ in range(3):
        await bank.start(requested_expiry="30")
    bank.provider.clock.advance(timedelta(seconds=31))

    with pytest.raises(ResourceExhausted):
        await bank.start(requested_expiry="30")


@pytest.mark.parametrize(
    "fields",
    [
        {"lifetime_secs": 29},
        {"lifetime_secs": 1000},
        {"longest_lifetime_secs": 3601},
        {"poll_interval_secs": 0},
        {"open_requests": 0},
        {"open_requests_of_user": 51},
    ],
)
def test_the_configuration_has_bounds(fields: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="backchannel_authentication"):
        BackchannelConfig(**fields)
