"""Values of the FedCM cookie."""

from dataclasses import replace
from datetime import timedelta

import pytest

from identity.access.sessions.config import SessionConfig
from identity.access.sessions.session import SESSIONS, Session
from identity.access.sessions.ways import secret_of, way_to
from identity.directory.user import UserId
from tests.identity.browsers import ADDRESS, Provider

ALICE = UserId("alice")


@pytest.fixture
def provider() -> Provider:
    return Provider()


async def sign_in(provider: Provider) -> tuple[str, Session]:
    return await provider.sessions.sign_in(
        provider.tenant, None, ALICE, amr=("pwd",), acr="level", peer_address=ADDRESS
    )


async def followed(provider: Provider, way: str, peer_address: str = ADDRESS) -> Session | None:
    return await provider.sessions.follow(provider.tenant, way, peer_address)


async def test_a_way_leads_to_its_session(provider: Provider) -> None:
    cookie, session = await sign_in(provider)

    assert await followed(provider, way_to(cookie, session.sid)) == session


async def test_a_way_is_no_cookie_and_a_cookie_no_way(provider: Provider) -> None:
    cookie, session = await sign_in(provider)
    way = way_to(cookie, session.sid)

    opened = [
        await provider.sessions.find(provider.tenant, each, ADDRESS)
        for each in (way, way.partition(".")[2], session.sid)
    ]

    assert opened == [None, None, None]
    assert await followed(provider, cookie) is None
    assert await followed(provider, f"{session.sid}.{cookie}") is None
    assert cookie not in way


@pytest.mark.parametrize(
    "way", ["", ".", "{sid}", "{sid}.", ".{secret}", "{sid}.{other}", "{sid}.ü", "\0.\0"]
)
async def test_what_is_no_way_leads_nowhere(provider: Provider, way: str) -> None:
    cookie, session = await sign_in(provider)
    parts = {"sid": session.sid, "secret": secret_of(cookie), "other": secret_of("another")}

    assert await followed(provider, way.format(**parts)) is None


async def test_nobody_is_found_where_nobody_has_signed_in(provider: Provider) -> None:
    cookie, session = await provider.sessions.begin(provider.tenant, ADDRESS)

    assert await followed(provider, way_to(cookie, session.sid)) is None


async def test_a_way_ends_with_its_session(provider: Provider) -> None:
    cookie, session = await sign_in(provider)

    await provider.sessions.end(session)

    assert await followed(provider, way_to(cookie, session.sid)) is None


async def test_a_session_that_is_not_used_is_not_found(provider: Provider) -> None:
    cookie, session = await sign_in(provider)
    provider.clock.advance(timedelta(seconds=5400))

    assert await followed(provider, way_to(cookie, session.sid)) is None


async def test_a_renewed_session_has_another_way(provider: Provider) -> None:
    cookie, session = await sign_in(provider)

    renewed_cookie, renewed = await provider.sessions.renew(provider.tenant, session.sid)

    assert await followed(provider, way_to(cookie, session.sid)) is None
    assert await followed(provider, way_to(renewed_cookie, session.sid)) == renewed


async def test_a_session_that_is_bound_to_an_address_is_found_there_alone() -> None:
    provider = Provider(sessions=SessionConfig(validate_address=True))
    cookie, session = await sign_in(provider)
    way = way_to(cookie, session.sid)

    assert await followed(provider, way) == session
    assert await followed(provider, way, "198.51.100.1") is None


async def test_another_tenants_session_is_none(provider: Provider) -> None:
    acme = provider.tenants.find("acme")
    cookie, session = await provider.sessions.sign_in(
        acme, None, ALICE, amr=("pwd",), acr="level", peer_address=ADDRESS
    )

    assert await followed(provider, way_to(cookie, session.sid)) is None


async def test_what_is_kept_does_not_give_the_way_away(provider: Provider) -> None:
    cookie, session = await sign_in(provider)

    assert secret_of(cookie) not in (session.way_hash, session.id, session.sid, session.csrf_token)
    assert session.way_hash not in repr(session)


async def test_a_session_of_before_has_no_way(provider: Provider) -> None:
    cookie, session = await sign_in(provider)
    await provider.store.of(SESSIONS).replace(replace(session, way_hash=""))

    assert await followed(provider, way_to(cookie, session.sid)) is None
