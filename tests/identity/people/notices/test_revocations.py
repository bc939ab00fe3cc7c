import asyncio
from datetime import timedelta

import pytest

from identity.directory.links.link import Usage
from identity.directory.user import UserId
from identity.foundation.events.kinds import EventType
from server.platform.errors import NotFound
from tests.identity.administration.administration import ALICE
from tests.identity.browsers import ACME, alice
from tests.identity.people.notices.told import Told


async def test_who_says_that_it_was_not_itself_is_signed_out_everywhere(told: Told) -> None:
    await told.sign_in(ALICE, "app")
    await told.grant()
    await told.emit(EventType.PASSKEY_ADDED)

    await told.revoke(told.code())

    assert list(await told.live_sessions()) == []
    assert list(await told.live_token_sets()) == []
    (event,) = [event for event in await told.events() if event.type == "UserLoginRevoke"]
    assert (event.ip, event.user_id, event.text) == ("192.0.2.9", ALICE, "alice@example.com")


async def test_what_waits_for_a_mailbox_is_cancelled(told: Told) -> None:
    until = told.clock.now() + timedelta(hours=1)
    waiting = [Usage.CHANGE_EMAIL, Usage.RESET_PASSWORD]
    codes = [await told.links.issue(told.tenant, ALICE, usage, until=until) for usage in waiting]
    await told.emit(EventType.PASSKEY_ADDED)

    await told.revoke(told.code())

    for usage, code in zip(waiting, codes, strict=True):
        assert await told.links.find(told.tenant, ALICE, usage, code) is None


async def test_other_people_stay_signed_in(told: Told) -> None:
    await told.provider.admit(alice(id="bob", email="bob@example.com"))
    await told.sign_in("bob")
    await told.emit(EventType.PASSKEY_ADDED)

    await told.revoke(told.code())

    assert [session.user_id for session in await told.live_sessions()] == ["bob"]


async def test_a_link_is_good_once(told: Told) -> None:
    await told.emit(EventType.PASSKEY_ADDED)
    code = told.code()

    outcomes = await asyncio.gather(*(told.revoke(code) for _ in range(5)), return_exceptions=True)

    assert outcomes.count(None) == 1
    assert sum(isinstance(outcome, NotFound) for outcome in outcomes) == 4


async def test_a_link_is_good_for_a_week(told: Told) -> None:
    await told.emit(EventType.PASSKEY_ADDED)
    told.clock.advance(timedelta(days=7, seconds=-1))
    await told.revocations.find(told.tenant, ALICE, told.code())

    told.clock.advance(timedelta(seconds=1))

    with pytest.raises(NotFound):
        await told.revoke(told.code())


async def test_a_link_is_its_persons_and_its_tenants(told: Told) -> None:
    await told.emit(EventType.PASSKEY_ADDED)

    with pytest.raises(NotFound):
        await told.revocations.find(told.tenant, UserId("bob"), told.code())
    with pytest.raises(NotFound):
        await told.revocations.find(told.provider.tenants.find(ACME), ALICE, told.code())


async def test_a_link_for_something_else_ends_nothing(told: Told) -> None:
    until = told.clock.now() + timedelta(hours=1)
    code = await told.links.issue(told.tenant, ALICE, Usage.RESET_PASSWORD, until=until)

    with pytest.raises(NotFound):
        await told.revoke(code)
