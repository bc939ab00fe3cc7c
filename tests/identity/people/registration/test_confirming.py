"""Confirmation of e-mail addresses by mailed links."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from identity.directory.client import CLIENTS
from identity.directory.links.link import LINKS
from identity.directory.tenants.settings import TenantSettings
from identity.directory.user import User, UserId
from identity.directory.users import Users
from identity.foundation.tenants import Tenant
from identity.people.registration.confirmation import Status
from identity.people.user_changes import UserChange
from server.platform.errors import InvalidArgument, NotFound, PermissionDenied
from tests.identity.administration.administration import ROOT
from tests.identity.browsers import NOON, alice, app
from tests.identity.people.registration.desk import EVE, OTHER_PASSWORD, PASSWORD, Desk

HOME = "https://app.example.com/"


async def test_r12_a_link_confirms_the_address(desk: Desk) -> None:
    await desk.register()

    confirmation = await desk.confirm(desk.link)

    assert (confirmation.status, confirmation.email) == (Status.CONFIRMED, EVE)
    user = await desk.known()
    assert (user.is_email_verified, user.confirmed_at, user.must_confirm_email) == (True, NOON, False)
    assert ("UserConfirmed", EVE) in await desk.told_of()


async def test_r16_looking_at_a_link_changes_nothing(desk: Desk) -> None:
    await desk.register()
    before = await desk.known()

    looks = [(await desk.look(desk.link)).status for _ in range(3)]

    assert looks == [Status.OPEN] * 3
    assert await desk.known() == before
    assert (await desk.confirm(desk.link)).status is Status.CONFIRMED


@pytest.mark.parametrize("hours", [1, 24, 168])
async def test_r13_a_link_is_good_for_the_hours_that_the_tenant_gives(desk: Desk, hours: int) -> None:
    await desk.ask_of(TenantSettings(confirmation_link_hours=hours))
    await desk.register()

    desk.advance(hours=hours, seconds=-1)
    before = await desk.look(desk.link)
    desk.advance(seconds=1)
    after = await desk.confirm(desk.link)

    assert (before.status, after.status) == (Status.OPEN, Status.EXPIRED)
    assert not (await desk.known()).is_email_verified


async def test_r19_a_link_keeps_the_life_that_it_was_sent_with(desk: Desk) -> None:
    await desk.register()

    await desk.ask_of(TenantSettings(confirmation_link_hours=1))
    desk.advance(hours=23)

    assert (await desk.confirm(desk.link)).status is Status.CONFIRMED


async def test_r14_a_link_that_is_followed_twice_changes_nothing_the_second_time(desk: Desk) -> None:
    await desk.register()
    await desk.confirm(desk.link)
    before = await desk.known()

    again = await desk.confirm(desk.link)

    assert again.status is Status.CONFIRMED
    assert await desk.known() == before


async def test_r14_of_many_who_follow_a_link_at_once_one_confirms(desk: Desk) -> None:
    await desk.register()
    link = desk.link

    found = await asyncio.gather(*(desk.confirm(link) for _ in range(10)))

    assert {confirmation.status for confirmation in found} == {Status.CONFIRMED}
    events = await desk.administration.events()
    assert [event.type for event in events].count("UserConfirmed") == 1


async def test_r14_a_link_that_another_process_uses_meanwhile_is_confirmed(desk: Desk) -> None:
    await desk.register()
    link = desk.link
    slow = replace(desk.confirming, users=ReadBefore(desk.confirming.users, partial(desk.confirm, link)))

    found = await slow.confirm(desk.tenant, link.user_id, link.code, peer_address="")

    assert found.status is Status.CONFIRMED
    events = await desk.administration.events()
    assert [event.type for event in events].count("UserConfirmed") == 1


class ReadBefore:
    """Users as they were before something else happened; they are read anew after that."""

    def __init__(self, users: Users, happens: Callable[[], Awaitable[object]]) -> None:
        self._users = users
        self._happens: Callable[[], Awaitable[object]] | None = happens
        self.replace = users.replace

    async def find(self, tenant: Tenant, user_id: UserId) -> User | None:
        user = await self._users.find(tenant, user_id)
        happens, self._happens = self._happens, None
        if happens is not None:
            await happens()
        return user


async def test_r15_a_newer_link_ends_those_before_it(desk: Desk) -> None:
    await desk.register()
    first = desk.link
    await desk.ask_again()

    with pytest.raises(NotFound):
        await desk.confirm(first)

    assert (await desk.confirm(desk.link)).status is Status.CONFIRMED
    with pytest.raises(NotFound):
        await desk.look(first)


async def test_r15_of_links_that_are_asked_for_at_once_one_counts(desk: Desk) -> None:
    await desk.register()

    await asyncio.gather(desk.ask_again(), desk.ask_again(), desk.register(password=OTHER_PASSWORD))

    good = [letter for letter in desk.letters if await is_good(desk, desk.link_in(letter).code)]
    assert len(good) == 1


async def is_good(desk: Desk, code: str) -> bool:
    user = await desk.known()
    link = await desk.links.find(desk.tenant, user.user_id, code)
    return link is not None and desk.links.is_current(link, user)


async def test_r15_a_link_that_is_mailed_late_leaves_the_newer_one_valid(desk: Desk) -> None:
    await desk.register()
    late = await desk.known()
    await desk.ask_again()
    newer = desk.link

    await desk.links.send(desk.tenant, late, TenantSettings())

    with pytest.raises(NotFound):
        await desk.confirm(desk.link)
    assert (await desk.confirm(newer)).status is Status.CONFIRMED


async def test_r17_a_link_of_one_tenant_is_unknown_in_another(desk: Desk) -> None:
    await desk.register()
    acme = desk.provider.tenants.find("acme")

    with pytest.raises(NotFound):
        await desk.confirm(desk.link, acme)

    assert not (await desk.known()).is_email_verified


@pytest.mark.parametrize("changed", ["code", "user_id"])
async def test_a_link_is_its_persons_alone(desk: Desk, changed: str) -> None:
    await desk.provider.admit(alice())
    await desk.register()
    link = replace(desk.link, **{changed: "alice" if changed == "user_id" else desk.link.code[:-1]})

    with pytest.raises(NotFound):
        await desk.confirm(link)


async def test_codes_are_kept_nowhere(desk: Desk) -> None:
    await desk.register()

    kept = str(await desk.store.of(LINKS).page(desk.tenant.tenant_id))
    assert desk.link.code not in kept
    assert desk.link.code not in str(await desk.known())


async def test_a_username_that_was_taken_meanwhile_does_not_keep_the_address_from_being_confirmed(
    desk: Desk,
) -> None:
    await desk.register()
    await desk.register(preferred_username="wanted")
    await desk.provider.admit(alice(preferred_username="wanted"))

    await desk.confirm(desk.link)

    user = await desk.known()
    assert (user.is_email_verified, user.preferred_username) == (True, "")


async def test_r24_once_an_administrator_confirms_no_link_does(desk: Desk) -> None:
    await desk.register()
    await desk.register(password=OTHER_PASSWORD)
    confirmed = UserChange(is_email_verified=True)
    user = await desk.known()

    after = await desk.administration.users.update(desk.tenant, user.user_id, confirmed, actor=ROOT)

    assert (after.is_email_verified, after.confirmed_at, after.must_confirm_email) == (True, NOON, False)
    with pytest.raises(NotFound):
        await desk.confirm(desk.link)
    assert after.has_no_way_in


async def test_r24_an_administrator_confirms_the_only_form_with_its_password(desk: Desk) -> None:
    await desk.register()
    user = await desk.known()

    confirmed = UserChange(is_email_verified=True)
    await desk.administration.users.update(desk.tenant, user.user_id, confirmed, actor=ROOT)

    assert await desk.has_password(PASSWORD)


async def test_a_link_confirms_the_address_that_it_was_sent_to_alone(desk: Desk) -> None:
    await desk.register()
    other = UserChange(email="other@example.com")

    await desk.administration.users.update(desk.tenant, desk.link.user_id, other, actor=ROOT)

    with pytest.raises(NotFound):
        await desk.confirm(desk.link)
    await desk.ask_again("other@example.com")
    assert (await desk.confirm(desk.link)).email == "other@example.com"


async def test_an_address_that_an_administrator_doubts_is_confirmed_by_a_new_link(desk: Desk) -> None:
    await desk.register()
    await desk.confirm(desk.link)
    doubted = UserChange(is_email_verified=False)

    await desk.administration.users.update(desk.tenant, desk.link.user_id, doubted, actor=ROOT)

    with pytest.raises(NotFound):
        await desk.confirm(desk.link)
    await desk.ask_again()
    assert (await desk.confirm(desk.link)).status is Status.CONFIRMED


async def test_what_else_an_administrator_changes_leaves_the_link_as_it_is(desk: Desk) -> None:
    await desk.register()
    renamed = UserChange(given_name="Eva", is_email_verified=False)

    await desk.administration.users.update(desk.tenant, desk.link.user_id, renamed, actor=ROOT)

    assert (await desk.confirm(desk.link)).status is Status.CONFIRMED


@pytest.mark.parametrize(
    ("fields", "uri"),
    [
        pytest.param({"client_id": "app"}, HOME, id="where the client is"),
        pytest.param(
            {"client_id": "app", "redirect_uri": "https://app.example.com/callback"},
            "https://app.example.com/callback",
            id="a registered address",
        ),
        pytest.param({"client_id": "unknown"}, "", id="no such client"),
        pytest.param({}, "", id="R40 no client"),
    ],
)
async def test_r34_the_way_on_is_one_that_the_client_registered(
    desk: Desk, fields: dict[str, str], uri: str
) -> None:
    await desk.add_client(app(client_uri=HOME))
    await desk.register(**fields)

    confirmation = await desk.confirm(desk.link)

    assert confirmation.way_on.uri == uri
    assert (await desk.look(desk.link)).way_on == confirmation.way_on


@pytest.mark.parametrize(
    ("changed", "uri"),
    [
        pytest.param({"redirect_uris": ()}, HOME, id="not registered any more"),
        pytest.param({"redirect_uris": (), "client_uri": ""}, "", id="nowhere"),
        pytest.param({"redirect_uris": (), "client_uri": "javascript:alert(1)"}, "", id="not of the web"),
        pytest.param({"is_enabled": False}, "", id="disabled"),
    ],
)
async def test_r34_what_is_registered_now_counts(desk: Desk, changed: dict[str, object], uri: str) -> None:
    await desk.add_client(app(client_uri=HOME))
    await desk.register(client_id="app", redirect_uri="https://app.example.com/callback")
    client = await desk.administration.client()
    await desk.store.of(CLIENTS).replace(replace(client, **changed))  # type: ignore[arg-type]

    assert (await desk.confirm(desk.link)).way_on.uri == uri


WAITING = alice(id="eve", email=EVE, is_email_verified=False, is_self_registered=True)


@pytest.mark.parametrize(
    ("user", "letters"),
    [
        pytest.param(None, 0, id="unknown"),
        pytest.param(replace(WAITING, is_email_verified=True), 0, id="confirmed"),
        pytest.param(replace(WAITING, is_self_registered=False), 0, id="made by an administrator"),
        pytest.param(replace(WAITING, is_enabled=False), 0, id="disabled"),
        pytest.param(WAITING, 1, id="unconfirmed"),
        pytest.param(replace(WAITING, last_login_at=NOON), 1, id="unconfirmed and in use"),
    ],
)
async def test_r27_every_address_is_answered_alike(desk: Desk, user: User | None, letters: int) -> None:
    if user is not None:
        await desk.provider.admit(user)

    await desk.ask_again()

    assert len(desk.letters) == letters
    (pause,) = desk.pauses.seconds
    assert 0 < pause <= 0.25


async def test_r27_an_address_gets_no_more_letters_than_it_can_use(desk: Desk) -> None:
    await desk.register()

    for _ in range(10):
        await desk.ask_again()

    assert len(desk.letters) == 5
    desk.advance(hours=1)
    await desk.ask_again()
    assert len(desk.letters) == 6


@pytest.mark.parametrize("email", ["", "eve", "eve@", "eve@example.com, bob@example.com"])
async def test_what_is_no_address_is_told_of(desk: Desk, email: str) -> None:
    with pytest.raises(InvalidArgument):
        await desk.ask_again(email)


async def test_r35_another_link_costs_a_proof_of_work_too(desk: Desk) -> None:
    proof = desk.provider.solution()

    async def ask(proof_of_work: str) -> None:
        await desk.requests.request(
            desk.tenant, email=EVE, proof_of_work=proof_of_work, peer_address="192.0.2.7"
        )

    await ask(proof)
    with pytest.raises(NotFound):
        await ask(proof)
    with pytest.raises(PermissionDenied):
        await ask("x")
    with pytest.raises(InvalidArgument):
        await ask("")


async def test_r22_who_is_confirmed_in_time_stays(desk: Desk) -> None:
    await desk.ask_of(TenantSettings(confirmation_link_hours=168))
    await desk.register()
    read = await desk.known()
    desk.advance(days=6)

    await desk.confirm(desk.link)

    assert not await desk.administration.users.remove_unchanged(read)
    assert (await desk.known()).confirmed_at == NOON + timedelta(days=6)
