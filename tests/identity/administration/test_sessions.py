from collections.abc import Sequence
from datetime import timedelta

import pytest

from identity.access.callers import Actor, ActorKind
from identity.access.sessions.session import Session
from identity.access.sign_out import SignOut
from identity.access.tokens.token_sets import TokenSets
from identity.directory.client import ClientId
from identity.directory.user import USERS, UserId
from identity.directory.version import DirectoryVersion
from identity.foundation.vocabulary import AuthenticationContext
from server.platform.errors import NotFound, Unavailable
from tests.identity.administration.administration import ALICE, ROOT, Administration
from tests.identity.browsers import ADDRESS, alice, app

BOB = UserId("bob")


@pytest.fixture(autouse=True)
async def _bob(administration: Administration) -> None:
    await administration.provider.admit(alice(id="bob", email="bob@example.com"))


async def test_sessions_with_somebody_signed_in_come_in_pages(administration: Administration) -> None:
    signed_in = {(await administration.sign_in()).id for _ in range(3)}
    await administration.provider.sessions.begin(administration.tenant, ADDRESS)

    first, after = await administration.sessions.page(
        administration.tenant, is_signed_in=True, after="", most=2
    )
    second, _ = await administration.sessions.page(
        administration.tenant, is_signed_in=True, after=after, most=2
    )

    assert [len(first), len(second)] == [2, 1]
    assert {session.id for session in (*first, *second)} == signed_in


async def test_sessions_that_nobody_signed_in_to_are_listed_apart(administration: Administration) -> None:
    await administration.sign_in()
    _, begun = await administration.provider.sessions.begin(administration.tenant, ADDRESS)

    page, after = await administration.sessions.page(
        administration.tenant, is_signed_in=False, after="", most=10
    )

    assert (page, after) == ([await administration.kept(begun)], "")


async def test_one_session_ends_and_its_relying_parties_are_told(administration: Administration) -> None:
    await administration.provider.register(app(backchannel_logout_uri="https://app.example.com/logout"))
    session, other = await administration.sign_in(ALICE, "app"), await administration.sign_in()
    await administration.grant(sid=session.sid)
    kept = await administration.grant()

    found = await administration.sessions.find(administration.tenant, session.sid)
    await administration.sessions.end(administration.tenant, found, ROOT)

    assert await administration.live_sessions() == [other]
    assert await administration.live_token_sets() == [kept]
    assert [logout.client_id for logout in await administration.logouts()] == [ClientId("app")]


async def test_a_person_is_signed_out_everywhere_and_others_are_not(administration: Administration) -> None:
    await administration.sign_in()
    await administration.grant()
    session, grant = await administration.sign_in(BOB), await administration.grant(BOB)

    await administration.sessions.end_of_user(administration.tenant, ALICE, ROOT)

    assert await administration.live_sessions() == [session]
    assert await administration.live_token_sets() == [grant]
    [event] = await administration.events()
    assert (event.type, event.text, event.user_id) == ("ForcedLogout", "alice@example.com", ALICE)
    assert event.actor is not None
    assert event.actor.name == "root@example.com"


async def test_who_signs_out_everywhere_else_stays_where_it_asks(administration: Administration) -> None:
    session = await administration.sign_in()
    for _ in range(2):
        await administration.sign_in()
    await administration.grant()
    herself = Actor(ActorKind.USER, ALICE, "alice@example.com", session=session.sid)

    await administration.sessions.end_of_user(administration.tenant, ALICE, herself)

    assert [each.sid for each in await administration.live_sessions()] == [session.sid]
    assert await administration.live_token_sets() == []


class Outage:
    """Loses the store after the first write of a sign-out."""

    async def outlast(self, *_: object, **__: object) -> None:
        return

    async def end_all(self, *_: object, **__: object) -> Sequence[Session]:
        raise Unavailable("the store is gone")


async def test_a_sign_out_that_is_interrupted_after_its_first_write_is_effective(
    administration: Administration,
) -> None:
    tenant, sessions = administration.tenant, administration.provider.sessions
    cookie, _ = await sessions.sign_in(
        tenant, None, ALICE, amr=("pwd",), acr=AuthenticationContext.PASSWORD, peer_address=ADDRESS
    )
    administration.clock.advance(timedelta(seconds=1))
    sign_out = SignOut(
        Outage(),
        TokenSets(administration.store, DirectoryVersion(administration.store)),
        administration.store.of(USERS),
        administration.clock,
    )

    with pytest.raises(Unavailable):
        await sign_out.everywhere(tenant, ALICE)

    assert await sessions.find(tenant, cookie, ADDRESS) is None


async def test_a_session_is_found_as_its_persons_alone(administration: Administration) -> None:
    session, tenant = await administration.sign_in(), administration.tenant

    assert await administration.sessions.find_of_user(tenant, ALICE, session.sid) == session
    with pytest.raises(NotFound):
        await administration.sessions.find_of_user(tenant, BOB, session.sid)


async def test_who_or_what_there_is_not_is_not_found(administration: Administration) -> None:
    with pytest.raises(NotFound):
        await administration.sessions.find(administration.tenant, "nothing")
    with pytest.raises(NotFound):
        await administration.sessions.end_of_user(administration.tenant, UserId("nobody"), ROOT)
