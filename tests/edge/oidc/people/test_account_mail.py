"""Mails to users about their own account, and the effects of their links, over HTTP."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from lxml import html

from tests.edge.oidc.people.mailed import Mailed, mailed
from tests.edge.oidc.people.provider import BASE
from tests.edge.oidc.people.somebody import PASSWORD

NEW = "alice@example.org"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[Mailed]:
    async with mailed(tmp_path / "letters") as found:
        yield found


async def test_a_new_address_is_the_persons_once_it_is_confirmed(world: Mailed) -> None:
    alice = await world.signed_in()

    asked = await alice.own("PUT", "/self", email=NEW, password_current=PASSWORD)
    path = await world.letters.path("Confirm your new email address", to=NEW)
    before = [(await world.admin.http.get(path)).status for _ in range(2)]
    (action,) = html.fromstring(await (await world.admin.http.get(path)).text()).xpath("//form/@action")
    confirmed = await world.browser().post(action)

    assert (asked.status, (await asked.json())["email"]) == (200, "alice@example.com")
    assert (before, action, confirmed.status) == ([200, 200], path, 200)
    assert (await world.admin.http.get(path)).status == 404
    _, changed = await world.admin.ask("GET", f"/users/{world.user_id}")
    assert (changed["email"], changed["email_verified"]) == (NEW, True)
    assert (await world.alice(email=NEW).sign_in()).status == 202
    assert await alice.is_signed_in()
    await world.letters.text("Your email address was changed")


@pytest.mark.parametrize("proof", [{}, {"password_current": "wrong"}, {"mfa_mod_token_id": "unheard-of"}])
async def test_another_address_needs_a_proof(world: Mailed, proof: dict[str, str]) -> None:
    alice = await world.signed_in()

    answer = await alice.own("PUT", "/self", email=NEW, **proof)

    assert answer.status == 400
    assert world.letters.all() == []


async def test_a_modification_token_is_such_a_proof(world: Mailed) -> None:
    alice = await world.signed_in()

    answer = await alice.own("PUT", "/self", email=NEW, mfa_mod_token_id=await alice.proof())

    assert answer.status == 200
    await world.letters.text("Confirm your new email address", to=NEW)


async def test_who_was_told_of_what_it_did_not_do_ends_it(world: Mailed) -> None:
    alice = await world.signed_in()
    await alice.own("PUT", "/self", email=NEW, password_current=PASSWORD)
    confirm = await world.letters.path("Confirm your new email address", to=NEW)
    path = await world.letters.path("Your email address is about to change")

    page = await world.admin.http.get(path)
    assert await alice.is_signed_in()
    revoked = await world.browser().post(path)

    assert (page.status, revoked.status) == (200, 200)
    assert not await alice.is_signed_in()
    assert (await world.admin.http.get(confirm)).status == 404
    assert (await world.browser().post(path)).status == 404
    assert "UserLoginRevoke" in await world.admin.typs()
    way_on = html.fromstring(await revoked.text()).xpath("//a/@href")
    assert way_on == [f"{BASE}/users/request_reset"]


async def test_a_link_of_a_letter_is_its_persons(world: Mailed) -> None:
    alice = await world.signed_in()
    await alice.own("PUT", "/self", email=NEW, password_current=PASSWORD)
    for subject, to in (
        ("Confirm your new email address", NEW),
        ("Your email address is about to change", alice.email),
    ):
        path = await world.letters.path(subject, to=to)

        answer = await world.browser().post(path.replace(world.user_id, "somebody"))

        assert (answer.status, answer.content_type) == (404, "text/html")


async def test_other_sites_press_no_button(world: Mailed) -> None:
    for path in ("revoke/code", "email_change/code"):
        answer = await world.admin.http.post(
            f"{BASE}/users/{world.user_id}/{path}", headers={"Sec-Fetch-Site": "cross-site"}
        )

        assert answer.status == 400
