import asyncio

import pytest

from identity.people.notices.places import MOST_PLACES, SIGN_IN_PLACES
from tests.identity.administration.administration import ALICE, KEY
from tests.identity.people.notices.told import Told

NEW = "New sign-in to your account"


async def test_the_first_place_is_nothing_new(told: Told) -> None:
    await told.sign_in_from("192.0.2.7")
    await told.sign_in_from("192.0.2.7")

    assert told.subjects == []


async def test_a_new_place_is_noticed_once(told: Told) -> None:
    for address in ("192.0.2.7", "198.51.100.1", "198.51.100.1", "192.0.2.7"):
        await told.sign_in_from(address)

    assert told.subjects == [NEW]
    assert "from the IP address 198.51.100.1" in told.mail.letters[0].text
    (event,) = [event for event in await told.events() if event.type == "LoginNewLocation"]
    assert (event.ip, event.user_id, event.session) == ("198.51.100.1", ALICE, "s1")


@pytest.mark.parametrize(("address", "letters"), [("2001:db8::2", 0), ("2001:db8:0:1::2", 1)])
async def test_a_network_of_ipv6_is_one_place(told: Told, address: str, letters: int) -> None:
    await told.sign_in_from("2001:db8::1")

    await told.sign_in_from(address)

    assert len(told.mail.letters) == letters


async def test_everybody_has_places_of_their_own(told: Told) -> None:
    await told.sign_in_from("192.0.2.7")

    await told.sign_in_from("198.51.100.1", user_id="bob")

    assert told.subjects == []


async def test_of_many_sign_ins_at_once_none_is_forgotten(told: Told) -> None:
    await told.sign_in_from("192.0.2.7")

    await asyncio.gather(*(told.sign_in_from(f"198.51.100.{number}") for number in range(4)))

    assert told.subjects == [NEW] * 4


async def test_places_are_not_kept_without_end(told: Told) -> None:
    for number in range(MOST_PLACES + 5):
        await told.sign_in_from(f"198.51.100.{number}")

    (kept,) = await told.store.of(SIGN_IN_PLACES).page(told.tenant.tenant_id)
    assert len(kept.places) == MOST_PLACES
    assert kept.places[-1] == f"198.51.100.{MOST_PLACES + 4}"


async def test_places_go_with_the_account(told: Told) -> None:
    await told.sign_in_from("192.0.2.7")

    await told.users.delete(told.tenant, ALICE, KEY)

    assert list(await told.store.of(SIGN_IN_PLACES).page(told.tenant.tenant_id)) == []
