"""Security events of sign-ins, refused sign-ins and logouts."""

from dataclasses import replace
from datetime import timedelta

import pytest

from identity.access.sessions.browser import Browser
from identity.authentication.requests.parameters import Parameters
from identity.foundation.events.event import EVENTS, Event
from identity.foundation.events.kinds import EventType
from server.platform.errors import PermissionDenied, Unauthenticated
from tests.identity.browsers import ADDRESS, NEW_BROWSER, NOON, PASSWORD, Provider, alice, app

UNCONFIRMED = {"is_self_registered": True, "is_email_verified": False}
EXPIRED = {"password_until": NOON - timedelta(days=1)}


@pytest.fixture
async def provider() -> Provider:
    provider = Provider()
    await provider.register(
        app(), app(id="staff", restrict_group_prefix="staff/"), app(id="vault", requires_mfa=True)
    )
    await provider.admit(
        alice(),
        alice(id="eve", email="eve@example.com", **UNCONFIRMED),
        alice(id="old", email="old@example.com", **EXPIRED),
    )
    return provider


async def told_of(provider: Provider) -> list[Event]:
    return list(await provider.store.of(EVENTS).page(provider.tenant.tenant_id))


async def log_out(provider: Provider, browser: Browser, **parameters: str) -> None:
    asked = Parameters.of(parameters.items())
    await provider.end_session.confirm(provider.tenant, browser, logout_id="", parameters=asked)


async def test_who_signs_in_is_told_of_with_client_address_and_session(provider: Provider) -> None:
    session = await provider.session(await provider.signed_in())

    (event,) = await told_of(provider)
    assert session is not None
    assert (event.type, event.at) == (EventType.LOGIN_SUCCEEDED, NOON)
    assert (event.user_id, event.client_id, event.ip, event.session) == ("alice", "app", ADDRESS, session.sid)
    assert PASSWORD not in repr(event)


@pytest.mark.parametrize(
    ("email", "client_id", "cause"),
    [
        ("eve@example.com", "app", "EMAIL_NOT_CONFIRMED"),
        ("old@example.com", "app", "PASSWORD_EXPIRED"),
        ("alice@example.com", "staff", "GROUP_REQUIRED"),
        ("alice@example.com", "vault", "SECOND_FACTOR_REQUIRED"),
    ],
)
async def test_whose_password_was_right_and_who_may_not_sign_in_is_told_of(
    provider: Provider, email: str, client_id: str, cause: str
) -> None:
    step, browser = await provider.page(client_id=client_id)

    with pytest.raises(PermissionDenied):
        await provider.submit(step, browser, email=email)

    (event,) = await told_of(provider)
    assert (event.type, event.text, event.ip) == (EventType.LOGIN_REFUSED, cause, ADDRESS)
    assert event.user_id == email.partition("@")[0]


@pytest.mark.parametrize(("email", "user_id"), [("alice@example.com", "alice"), ("nobody@example.com", None)])
async def test_a_wrong_password_is_told_of_with_whose_account_it_is(
    provider: Provider, email: str, user_id: str | None
) -> None:
    step, browser = await provider.page()

    with pytest.raises(Unauthenticated):
        await provider.submit(step, browser, email=email, password="not the password")

    (event,) = await told_of(provider)
    assert (event.type, event.user_id, event.ip) == (EventType.INVALID_LOGINS, user_id, ADDRESS)
    assert "not the password" not in repr(event)
    assert email not in repr(event)


@pytest.mark.parametrize(
    ("parameters", "client_id"), [({}, None), ({"client_id": "app"}, "app")], ids=["page", "app"]
)
async def test_who_leaves_is_told_of(
    provider: Provider, parameters: dict[str, str], client_id: str | None
) -> None:
    browser = await provider.signed_in()
    session = await provider.session(browser)

    await log_out(provider, replace(browser, peer_address="192.0.2.9"), **parameters)

    (event,) = [event for event in await told_of(provider) if event.type is EventType.LOGGED_OUT]
    assert session is not None
    assert (event.user_id, event.client_id, event.ip) == ("alice", client_id, "192.0.2.9")
    assert event.session == session.sid


async def test_who_leaves_by_a_hint_is_told_of(provider: Provider) -> None:
    browser = await provider.signed_in()

    asked = Parameters.of({"id_token_hint": provider.id_token()}.items())
    await provider.end_session.begin(provider.tenant, asked, browser)

    assert EventType.LOGGED_OUT in {event.type for event in await told_of(provider)}


async def test_of_a_browser_that_nobody_signed_in_at_nothing_is_told(provider: Provider) -> None:
    cookie, session = await provider.sessions.begin(provider.tenant, ADDRESS)

    await log_out(provider, replace(NEW_BROWSER, cookie=cookie, csrf_token=session.csrf_token))

    assert await told_of(provider) == []
