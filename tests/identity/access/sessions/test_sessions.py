import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from identity.access.sessions.config import SessionConfig, SessionLifetimes
from identity.access.sessions.session import SESSIONS, Impersonator, Session
from identity.access.sessions.sessions import has_csrf
from identity.access.sessions.ways import way_to
from identity.directory.client import ClientId
from identity.directory.user import UserId
from server.platform.errors import Unauthenticated
from tests.identity.browsers import ADDRESS, NOON, Provider

ALICE = UserId("alice")


@pytest.fixture
def provider() -> Provider:
    return Provider()


async def sign_in(provider: Provider, before: Session | None = None) -> tuple[str, Session]:
    return await provider.sessions.sign_in(
        provider.tenant, before, ALICE, amr=("pwd",), acr="level", peer_address=ADDRESS
    )


async def found(provider: Provider, cookie: str, peer_address: str = ADDRESS) -> Session | None:
    return await provider.sessions.find(provider.tenant, cookie, peer_address)


async def test_a_session_is_found_by_its_cookie(provider: Provider) -> None:
    cookie, session = await provider.sessions.begin(provider.tenant, ADDRESS)

    assert await found(provider, cookie) == session


@pytest.mark.parametrize("cookie", ["", "unknown", "ünknown", "\0"])
async def test_another_cookie_finds_none(provider: Provider, cookie: str) -> None:
    await provider.sessions.begin(provider.tenant, ADDRESS)

    assert await found(provider, cookie) is None


async def test_another_tenants_session_is_none(provider: Provider) -> None:
    cookie, _ = await provider.sessions.begin(provider.tenants.find("acme"), ADDRESS)

    assert await found(provider, cookie) is None


async def test_what_is_kept_does_not_give_the_cookie_away(provider: Provider) -> None:
    cookie, session = await provider.sessions.begin(provider.tenant, ADDRESS)

    assert cookie not in repr(session)
    assert cookie not in (session.id, session.sid, session.csrf_token)


async def test_an_unused_session_ends(provider: Provider) -> None:
    cookie, _ = await provider.sessions.begin(provider.tenant, ADDRESS)

    provider.clock.advance(timedelta(seconds=5400))

    assert await found(provider, cookie) is None


async def test_a_session_that_is_used_goes_on_until_its_last_moment(provider: Provider) -> None:
    cookie, _ = await provider.sessions.begin(provider.tenant, ADDRESS)

    for _ in range(3):
        provider.clock.advance(timedelta(seconds=4799))
        assert await found(provider, cookie) is not None
    provider.clock.advance(timedelta(seconds=3))

    assert await found(provider, cookie) is None


@pytest.mark.parametrize(("seconds", "revision"), [(10, 1), (11, 2)])
async def test_a_use_is_written_when_the_last_one_is_long_ago(
    provider: Provider, seconds: int, revision: int
) -> None:
    cookie, _ = await provider.sessions.begin(provider.tenant, ADDRESS)
    provider.clock.advance(timedelta(seconds=seconds))

    await found(provider, cookie)

    kept = await found(provider, cookie)
    assert kept is not None
    assert kept.revision == revision


async def test_uses_at_the_same_time_all_find_the_session(provider: Provider) -> None:
    cookie, _ = await provider.sessions.begin(provider.tenant, ADDRESS)
    provider.clock.advance(timedelta(seconds=60))

    sessions = await asyncio.gather(*(found(provider, cookie) for _ in range(20)))

    assert None not in sessions


@pytest.mark.parametrize(("validate_address", "is_found"), [(True, False), (False, True)])
async def test_a_session_is_bound_to_its_address_where_that_is_configured(
    *, validate_address: bool, is_found: bool
) -> None:
    provider = Provider(sessions=SessionConfig(validate_address=validate_address))
    cookie, _ = await provider.sessions.begin(provider.tenant, ADDRESS)

    assert (await found(provider, cookie, "192.0.2.8") is not None) == is_found


async def test_a_sign_in_says_who_when_and_how(provider: Provider) -> None:
    cookie, session = await sign_in(provider)

    assert session.authentication is not None
    assert (session.authentication.user_id, session.authentication.at) == ("alice", NOON)
    assert (session.authentication.amr, session.authentication.acr) == (("pwd",), "level")
    assert session.authentication.sid == session.sid
    assert await found(provider, cookie) == session


async def test_the_session_before_a_sign_in_ends(provider: Provider) -> None:
    old_cookie, before = await provider.sessions.begin(provider.tenant, ADDRESS)

    cookie, session = await sign_in(provider, before)

    assert await found(provider, old_cookie) is None
    assert cookie != old_cookie
    assert session.csrf_token != before.csrf_token
    assert session.sid != before.sid


async def test_clients_are_noted_once_however_many_come_at_a_time(provider: Provider) -> None:
    cookie, session = await sign_in(provider)
    clients = [ClientId(f"client-{number % 5}") for number in range(20)]

    await asyncio.gather(*(provider.sessions.note_client(session, client) for client in clients))

    kept = await found(provider, cookie)
    assert kept is not None
    assert sorted(kept.clients) == sorted(set(clients))


async def test_no_client_is_noted_in_a_session_that_has_ended(provider: Provider) -> None:
    _, session = await sign_in(provider)
    await provider.sessions.end(session)

    with pytest.raises(Unauthenticated):
        await provider.sessions.note_client(session, ClientId("app"))


async def test_all_sessions_of_a_user_end_at_once(provider: Provider) -> None:
    cookies = [(await sign_in(provider))[0] for _ in range(3)]
    stranger, _ = await provider.sessions.begin(provider.tenant, ADDRESS)

    ended = await provider.sessions.end_all(provider.tenant, ALICE)

    assert len(ended) == 3
    assert [await found(provider, cookie) for cookie in cookies] == [None] * 3
    assert await found(provider, stranger) is not None


async def test_all_sessions_of_a_user_end_but_one(provider: Provider) -> None:
    (kept, session), (other, _) = await sign_in(provider), await sign_in(provider)

    await provider.sessions.end_all(provider.tenant, ALICE, but=session.sid)

    assert (await found(provider, kept), await found(provider, other)) == (session, None)


async def test_a_session_of_support_ends_with_its_time_and_opens_no_fed_cm(provider: Provider) -> None:
    _, own = await sign_in(provider)
    ends_at = provider.clock.now() + timedelta(minutes=5)

    cookie, acting = await provider.sessions.impersonate(
        provider.tenant, own, UserId("bob"), name="alice@example.com", ends_at=ends_at, peer_address=ADDRESS
    )

    way = way_to(cookie, acting.sid)
    assert await provider.sessions.follow(provider.tenant, way, ADDRESS) is None
    assert acting.authentication is not None
    assert acting.authentication.amr == ("pwd", "impersonation")
    assert acting.authentication.impersonator == Impersonator(
        user_id=ALICE, ends_at=ends_at, began_at=provider.clock.now()
    )
    assert await found(provider, cookie) == acting
    provider.clock.advance(timedelta(minutes=6))
    assert await found(provider, cookie) is None


async def test_a_renewed_session_is_the_same_under_another_id(provider: Provider) -> None:
    before, session = await sign_in(provider)
    session = await provider.sessions.note_client(session, ClientId("app"))

    after, renewed = await provider.sessions.renew(provider.tenant, session.sid)

    assert await found(provider, before) is None
    assert await found(provider, after) == renewed
    changed = {
        "id": renewed.id,
        "csrf_token": renewed.csrf_token,
        "revision": renewed.revision,
        "way_hash": renewed.way_hash,
    }
    assert renewed == replace(session, **changed)
    assert (renewed.id == session.id, renewed.csrf_token == session.csrf_token) == (False, False)


async def test_a_session_that_has_ended_is_not_renewed(provider: Provider) -> None:
    _, session = await sign_in(provider)
    await provider.sessions.end(session)

    with pytest.raises(Unauthenticated):
        await provider.sessions.renew(provider.tenant, session.sid)


async def test_the_csrf_token_is_the_sessions_own(provider: Provider) -> None:
    _, session = await provider.sessions.begin(provider.tenant, ADDRESS)

    assert has_csrf(session, session.csrf_token)
    assert not any(has_csrf(session, text) for text in ("", "x", session.csrf_token + "x", "ü" * 32))


async def test_a_record_that_ended_by_its_own_clock_is_no_session(provider: Provider) -> None:
    cookie, session = await provider.sessions.begin(provider.tenant, ADDRESS)
    await provider.store.of(SESSIONS).replace(replace(session, idle_until=NOON))

    assert await found(provider, cookie) is None


@pytest.mark.parametrize("fields", [{"session_lifetime_secs": 59}, {"session_timeout_secs": 0}])
def test_lifetimes_have_bounds(fields: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="expected 60 to"):
        SessionLifetimes(**fields)
