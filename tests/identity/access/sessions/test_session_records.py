"""CSRF tokens of sessions in the database."""

from dataclasses import replace
from datetime import timedelta

import pytest

from identity.access.sessions.session import SESSIONS, Session
from identity.access.sessions.sessions import has_csrf
from identity.directory.user import UserId
from tests.identity.browsers import ADDRESS, Provider

ALICE = UserId("alice")
LATER = timedelta(minutes=1)
BEFORE = "u6UZ4Bh0pW2sYk9TqLr8VxCn3MfDe7Ja"


@pytest.fixture
def provider() -> Provider:
    return Provider()


async def record(provider: Provider, session: Session) -> Session:
    kept = await provider.store.of(SESSIONS).get(session.tenant_id, session.id)
    assert kept is not None
    return kept


async def test_a_record_has_no_csrf_token(provider: Provider) -> None:
    cookie, begun = await provider.sessions.begin(provider.tenant, ADDRESS)
    provider.clock.advance(LATER)
    found = await provider.sessions.find(provider.tenant, cookie, ADDRESS)

    assert found is not None
    kept = await record(provider, found)
    assert kept.revision > begun.revision
    assert begun.csrf_token == found.csrf_token
    assert found.csrf_token not in repr(kept) + kept.csrf_token
    assert not has_csrf(found, kept.csrf_token)


async def test_another_session_has_another_token(provider: Provider) -> None:
    tokens = {(await provider.sessions.begin(provider.tenant, ADDRESS))[1].csrf_token for _ in range(5)}

    assert len(tokens) == 5


async def test_a_session_of_the_version_before_keeps_its_token_until_it_ends(provider: Provider) -> None:
    """Its record keeps the token too, because processes of that version may read it."""
    cookie, begun = await provider.sessions.begin(provider.tenant, ADDRESS)
    await provider.store.of(SESSIONS).replace(replace(begun, csrf_token=BEFORE))
    provider.clock.advance(LATER)

    found = await provider.sessions.find(provider.tenant, cookie, ADDRESS)

    assert found is not None
    assert (has_csrf(found, BEFORE), has_csrf(found, begun.csrf_token)) == (True, False)
    assert (await record(provider, found)).csrf_token == BEFORE


async def test_a_sign_in_replaces_the_token_of_the_version_before(provider: Provider) -> None:
    _, begun = await provider.sessions.begin(provider.tenant, ADDRESS)
    old = await provider.store.of(SESSIONS).replace(replace(begun, csrf_token=BEFORE))

    _, signed_in = await provider.sessions.sign_in(
        provider.tenant, old, ALICE, amr=("pwd",), acr="level", peer_address=ADDRESS
    )

    assert not has_csrf(signed_in, BEFORE)
    assert BEFORE not in (await record(provider, signed_in)).csrf_token
