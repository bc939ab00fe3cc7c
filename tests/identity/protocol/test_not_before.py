"""Everything that began before the `not_before` of its tenant, its user or its client is refused."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from identity.access.sessions.session import Session
from identity.directory.user import USERS, UserId
from identity.foundation.errors import InvalidGrant
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import GrantType
from identity.protocol.devices.verification import accepted
from identity.protocol.tokens.introspection import INACTIVE
from tests.identity.protocol.provider import ADA, AS_APP, SIGNED_IN, TENANT, Provider

PLACE = "198.51.100.2"
BOB = "bob"
OFFLINE = ("openid", "offline_access")

Refuse = Callable[[Provider, datetime], Awaitable[Tenant]]


async def of_the_tenant(_provider: Provider, not_before: datetime) -> Tenant:
    return replace(TENANT, not_before=not_before)


async def of_the_user(provider: Provider, not_before: datetime) -> Tenant:
    await provider.change_user(not_before=not_before)
    return TENANT


async def of_the_client(provider: Provider, not_before: datetime) -> Tenant:
    await provider.change_client(not_before=not_before)
    return TENANT


@pytest.fixture(params=[of_the_tenant, of_the_user, of_the_client])
def refuse(request: pytest.FixtureRequest) -> Refuse:
    found: Refuse = request.param
    return found


@pytest.fixture(params=[of_the_tenant, of_the_user])
def refuse_people(request: pytest.FixtureRequest) -> Refuse:
    found: Refuse = request.param
    return found


async def later(provider: Provider, refuse: Refuse) -> Tenant:
    provider.clock.advance(timedelta(seconds=10))
    return await refuse(provider, provider.clock.now())


async def is_active(provider: Provider, tenant: Tenant, token: str) -> bool:
    return await provider.introspection.for_client(tenant, AS_APP, token=token) != INACTIVE


async def sign_in(provider: Provider) -> str:
    """Return the cookie of a new session of Ada."""
    cookie, _ = await provider.sessions.sign_in(
        TENANT, None, UserId(ADA.id), amr=("pwd",), acr="urn:example:pwd", peer_address=PLACE
    )
    return cookie


async def test_an_access_token_of_before_is_inactive(provider: Provider, refuse: Refuse) -> None:
    issued = await provider.sign_in()

    tenant = await later(provider, refuse)

    assert not await is_active(provider, tenant, issued.access_token)


@pytest.mark.parametrize("scopes", [("openid",), OFFLINE])
async def test_a_refresh_token_of_before_is_refused(
    provider: Provider, refuse: Refuse, scopes: tuple[str, ...]
) -> None:
    issued = await provider.sign_in(oauth_scopes=scopes)

    tenant = await later(provider, refuse)

    assert not await is_active(provider, tenant, issued.refresh_token)
    with pytest.raises(InvalidGrant):
        await provider.refresh(issued.refresh_token, tenant=tenant)


async def test_a_code_of_before_is_refused(provider: Provider, refuse_people: Refuse) -> None:
    code = await provider.code()

    tenant = await later(provider, refuse_people)

    with pytest.raises(InvalidGrant):
        await provider.redeem(code, tenant=tenant)


async def test_a_device_that_was_approved_before_gets_no_tokens(
    provider: Provider, refuse_people: Refuse
) -> None:
    started = await provider.start_device(oauth_scopes=("openid",))
    await provider.verification.decide(await provider.question(started.user_code), accepted)

    tenant = await later(provider, refuse_people)

    with pytest.raises(InvalidGrant):
        await provider.poll(started, tenant=tenant)


async def test_a_session_of_before_is_none(provider: Provider, refuse_people: Refuse) -> None:
    cookie = await sign_in(provider)

    tenant = await later(provider, refuse_people)

    assert await provider.sessions.find(tenant, cookie, PLACE) is None


async def test_a_browser_in_which_nobody_is_signed_in_begins_anew(provider: Provider) -> None:
    cookie, _ = await provider.sessions.begin(TENANT, PLACE)

    tenant = await later(provider, of_the_tenant)

    assert await provider.sessions.find(tenant, cookie, PLACE) is None


async def test_new_tokens_of_a_sign_in_of_before_are_refused(
    provider: Provider, refuse_people: Refuse
) -> None:
    """Another node, which has not heard of the sign-out yet, issues them."""
    provider.clock.advance(timedelta(seconds=10))
    not_before = provider.clock.now()
    provider.clock.advance(timedelta(milliseconds=100))
    issued = await provider.sign_in(authentication=SIGNED_IN)

    tenant = await refuse_people(provider, not_before)

    assert not await is_active(provider, tenant, issued.access_token)
    with pytest.raises(InvalidGrant):
        await provider.refresh(issued.refresh_token, tenant=tenant)


async def test_what_begins_afterwards_is_valid(provider: Provider, refuse: Refuse) -> None:
    tenant = await later(provider, refuse)
    authentication = replace(SIGNED_IN, at=provider.clock.now())

    issued = await provider.redeem(await provider.code(authentication=authentication), tenant=tenant)
    refreshed = await provider.refresh(issued.refresh_token, tenant=tenant)

    assert await is_active(provider, tenant, refreshed.access_token)
    assert await provider.sessions.find(tenant, await sign_in(provider), PLACE) is not None


@pytest.mark.parametrize("refuse", [of_the_tenant, of_the_client])
async def test_a_token_in_the_clients_own_name_of_before_is_inactive(
    provider: Provider, refuse: Refuse
) -> None:
    issued = await provider.ask(GrantType.CLIENT_CREDENTIALS)

    tenant = await later(provider, refuse)

    assert not await is_active(provider, tenant, issued.access_token)


async def test_a_token_of_the_same_second_counts_by_its_half(provider: Provider) -> None:
    """The time of issuance in a token is a whole second."""
    before = await provider.ask(GrantType.CLIENT_CREDENTIALS)
    provider.clock.advance(timedelta(milliseconds=500))
    tenant = replace(TENANT, not_before=provider.clock.now())

    after = await provider.ask(GrantType.CLIENT_CREDENTIALS, tenant=tenant)

    assert not await is_active(provider, tenant, before.access_token)
    assert await is_active(provider, tenant, after.access_token)


async def test_the_session_that_the_user_keeps_goes_on_with_new_tokens(provider: Provider) -> None:
    cookie = await sign_in(provider)
    session = await provider.sessions.find(TENANT, cookie, PLACE)
    assert session is not None
    provider.clock.advance(timedelta(seconds=10))
    not_before = provider.clock.now()

    await provider.sessions.outlast(TENANT, UserId(ADA.id), session.sid, not_before=not_before)
    await provider.change_user(not_before=not_before)

    kept = await provider.sessions.find(TENANT, cookie, PLACE)
    assert kept is not None
    issued = await provider.sign_in(authentication=kept.authentication)
    assert await is_active(provider, TENANT, issued.access_token)


async def acting(provider: Provider) -> tuple[str, Session]:
    """Return the cookie and the session in which Bob, who signed in before, acts as Ada."""
    _, own = await provider.sessions.sign_in(
        TENANT, None, UserId(BOB), amr=("pwd",), acr="urn:example:pwd", peer_address=PLACE
    )
    provider.clock.advance(timedelta(seconds=10))
    await provider.change_user(not_before=provider.clock.now())
    ends_at = provider.clock.now() + timedelta(minutes=30)
    return await provider.sessions.impersonate(
        TENANT, own, UserId(ADA.id), name="bob@example.com", ends_at=ends_at, peer_address=PLACE
    )


async def test_support_acts_as_a_user_who_was_signed_out_before(provider: Provider) -> None:
    cookie, session = await acting(provider)

    issued = await provider.sign_in(authentication=session.authentication)

    assert await provider.sessions.find(TENANT, cookie, PLACE) is not None
    assert await is_active(provider, TENANT, issued.access_token)


async def test_support_who_is_signed_out_acts_as_nobody(provider: Provider) -> None:
    await provider.records.of(USERS).insert(replace(ADA, id=BOB, email=BOB, preferred_username=""))
    cookie, session = await acting(provider)
    issued = await provider.sign_in(authentication=session.authentication)
    bob = await provider.records.of(USERS).get(TENANT.tenant_id, BOB)
    assert bob is not None

    await provider.records.of(USERS).replace(replace(bob, not_before=provider.clock.now()))

    assert await provider.sessions.find(TENANT, cookie, PLACE) is None
    assert not await is_active(provider, TENANT, issued.access_token)
    with pytest.raises(InvalidGrant):
        await provider.refresh(issued.refresh_token)


async def test_support_ends_with_the_sign_out_of_all_users(provider: Provider) -> None:
    cookie, _ = await acting(provider)

    tenant = replace(TENANT, not_before=provider.clock.now())

    assert await provider.sessions.find(tenant, cookie, PLACE) is None
