import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from identity.access.networks.config import NetworksConfig
from identity.access.networks.networks import Networks
from identity.access.sessions.device_cookies import DeviceCookies
from identity.directory.tenants.settings import SignInNotice
from identity.people.notices.places import (
    MOST_DEVICES,
    MOST_PLACES,
    SIGN_IN_PLACES,
    KnownPlaces,
    SignInPlaces,
)
from identity.people.notices.sign_ins import MOST_A_DAY
from identity.people.user_changes import UserChange
from server.platform.call import TenantId
from server.platform.errors import Unavailable
from server.platform.records.memory import MemoryRecords
from tests.identity.access.networks.databases import NOWHERE, countries
from tests.identity.administration.administration import ALICE, KEY
from tests.identity.browsers import ACME, alice
from tests.identity.people.notices.told import Told

NEW = "New sign-in to your account"
HOME, CAFE = "192.0.2.7", "198.51.100.1"


async def typs(told: Told) -> list[str]:
    return [event.type for event in await told.events()]


async def test_the_first_sign_in_is_nothing_new(told: Told) -> None:
    cookie = await told.sign_in_from(HOME)
    await told.sign_in_from(HOME, cookie)

    assert told.subjects == []
    assert await typs(told) == []


async def test_a_person_is_told_of_a_new_browser(told: Told) -> None:
    await told.sign_in_from(HOME)

    cookie = await told.sign_in_from(CAFE)
    await told.sign_in_from(CAFE, cookie)

    (letter,) = told.mail.letters
    assert (letter.to, letter.subject) == ("alice@example.com", NEW)
    assert "with a browser or device that is new to it" in letter.text
    assert "Browser: Firefox, Linux" in letter.text
    assert f"on 1 January 2030, 12:00 UTC from the IP address {CAFE}" in letter.text
    assert f"\n\n{told.tenant.issuer}account\n\n" in letter.text
    (event,) = [event for event in await told.events() if event.type == "LoginNewDevice"]
    assert (event.ip, event.user_id, event.session, event.text) == (CAFE, ALICE, "s1", "Firefox, Linux")


async def test_the_letter_ends_all_sessions_and_the_browser_is_new_again(told: Told) -> None:
    await told.sign_in_from(HOME)
    stranger = await told.sign_in_from(CAFE)
    await told.sign_in(ALICE)

    await told.revoke(told.code())
    await told.sign_in_from(CAFE, stranger)

    assert list(await told.live_sessions()) == []
    assert told.subjects == [NEW, NEW]


async def test_the_letter_is_in_the_language_of_the_user(told: Told) -> None:
    await told.users.update(told.tenant, ALICE, UserChange(language="de"), actor=KEY)
    await told.sign_in_from(HOME)

    await told.sign_in_from(HOME)

    (letter,) = told.mail.letters
    assert (letter.subject, letter.language) == ("Neue Anmeldung an Ihrem Konto", "de")
    assert "mit einem Browser" in letter.text


async def test_a_header_is_not_repeated_in_the_letter(told: Told) -> None:
    await told.sign_in_from(HOME)

    await told.sign_in_from(HOME, user_agent="https://evil.example.com/ Call 555")

    assert "evil" not in told.mail.letters[0].text
    assert "Browser:" not in told.mail.letters[0].text


async def test_a_known_browser_at_a_new_address_is_an_event_alone(told: Told) -> None:
    cookie = await told.sign_in_from(HOME)

    await told.sign_in_from(CAFE, cookie)

    assert told.subjects == []
    (event,) = await told.events()
    assert (event.type, event.ip, event.session) == ("LoginNewLocation", CAFE, "s1")


async def test_a_tenant_notifies_of_new_addresses_too(told: Told) -> None:
    await told.notify(SignInNotice.NEW_ADDRESS)
    cookie = await told.sign_in_from(HOME)

    for address in (CAFE, CAFE, HOME):
        await told.sign_in_from(address, cookie)

    assert told.subjects == [NEW]
    assert "from a new network address" in told.mail.letters[0].text
    assert f"from the IP address {CAFE}" in told.mail.letters[0].text


async def test_a_tenant_notifies_of_no_sign_in(told: Told) -> None:
    await told.notify(SignInNotice.OFF)
    await told.sign_in_from(HOME)

    await told.sign_in_from(CAFE)

    assert told.subjects == []
    assert sorted(await typs(told)) == ["LoginNewDevice", "LoginNewLocation"]


async def test_letters_of_a_day_are_bounded(told: Told) -> None:
    await told.sign_in_from(HOME)
    for _ in range(MOST_A_DAY + 3):
        await told.sign_in_from(HOME)
    before = len(told.mail.letters)

    told.clock.advance(timedelta(days=1))
    await told.sign_in_from(HOME)

    assert (before, len(told.mail.letters)) == (MOST_A_DAY, MOST_A_DAY + 1)


async def test_without_mail_a_new_browser_is_an_event(told: Told) -> None:
    told.mail.is_open = False
    await told.sign_in_from(HOME)

    await told.sign_in_from(HOME)

    assert await typs(told) == ["LoginNewDevice"]


class Unreachable(MemoryRecords[SignInPlaces]):
    async def get(self, tenant_id: TenantId, record_id: str) -> SignInPlaces | None:
        raise Unavailable(f"the database does not give {tenant_id} {record_id}")


async def test_an_outage_stops_no_sign_in(told: Told) -> None:
    away = KnownPlaces(Unreachable(SIGN_IN_PLACES, told.clock))
    told.watch = replace(told.watch, places=away)

    cookie = await told.sign_in_from(HOME)

    assert cookie
    assert told.subjects == []


@pytest.mark.parametrize("spoilt", ["id.signature", "é", ".", "x" * 256])
async def test_a_forged_cookie_is_no_known_browser(told: Told, spoilt: str) -> None:
    cookie = await told.sign_in_from(HOME)

    replaced = await told.sign_in_from(HOME, spoilt)

    assert told.subjects == [NEW]
    assert replaced not in {spoilt, cookie}


async def test_a_cookie_is_of_its_tenant(told: Told) -> None:
    cookies = DeviceCookies(hasher=told.provider.hasher, randomness=told.provider.randomness)
    cookie = cookies.genuine(told.tenant, "")

    assert cookies.genuine(told.tenant, cookie) == cookie
    assert cookies.genuine(told.provider.tenants.find(ACME), cookie) != cookie


async def test_one_cookie_serves_all_accounts_of_a_browser(told: Told) -> None:
    await told.provider.admit(alice(id="bob", email="bob@example.com"))
    for user_id in (ALICE, "bob"):
        await told.sign_in_from(CAFE, user_id=user_id)
    cookie = await told.sign_in_from(HOME)

    again = [await told.sign_in_from(HOME, cookie, user_id=user_id) for user_id in (ALICE, "bob")]

    assert again == [cookie, cookie]
    assert [letter.to for letter in told.mail.letters] == ["alice@example.com", "bob@example.com"]
    kept = await told.store.of(SIGN_IN_PLACES).page(told.tenant.tenant_id)
    assert set(kept[0].devices).isdisjoint(kept[1].devices)


async def test_the_browser_that_was_not_used_longest_is_forgotten(told: Told) -> None:
    first = await told.sign_in_from(HOME)
    second = await told.sign_in_from(HOME)
    for _ in range(MOST_DEVICES - 1):
        await told.sign_in_from(HOME)
        await told.sign_in_from(HOME, first)
    told.mail.letters.clear()
    told.clock.advance(timedelta(days=1))

    await told.sign_in_from(HOME, first)
    assert told.subjects == []
    await told.sign_in_from(HOME, second)

    assert told.subjects == [NEW]
    (kept,) = await told.store.of(SIGN_IN_PLACES).page(told.tenant.tenant_id)
    assert len(kept.devices) == MOST_DEVICES


@pytest.mark.parametrize(("address", "letters"), [(HOME, 0), (CAFE, 1)])
async def test_after_an_upgrade_the_known_addresses_count(told: Told, address: str, letters: int) -> None:
    earlier = SignInPlaces(tenant_id=told.tenant.tenant_id, id=ALICE, places=(HOME,))
    await told.store.of(SIGN_IN_PLACES).insert(earlier)

    await told.sign_in_from(address)

    assert len(told.mail.letters) == letters


async def test_a_known_browser_in_a_new_country_is_told_of(tmp_path: Path) -> None:
    path = countries(tmp_path / "countries.mmdb", home="DE", away="FR")
    networks = Networks(NetworksConfig(country_database=path))
    await networks.open()
    told = Told(networks)
    await told.provider.admit(alice(language="de"))
    cookie = await told.sign_in_from(HOME)

    for address in (CAFE, CAFE, NOWHERE, HOME):
        await told.sign_in_from(address, cookie)

    (letter,) = told.mail.letters
    assert "aus einem neuen Land" in letter.text
    assert "Land: Frankreich" in letter.text
    assert [event.text for event in await told.events()] == ["Firefox, Linux, FR", "Firefox, Linux"]
    told.provider.passwords.close()


@pytest.mark.parametrize(("address", "events"), [("2001:db8::2", 0), ("2001:db8:0:1::2", 1)])
async def test_a_network_of_ipv6_is_one_place(told: Told, address: str, events: int) -> None:
    cookie = await told.sign_in_from("2001:db8::1")

    await told.sign_in_from(address, cookie)

    assert len(await told.events()) == events


async def test_everybody_has_places_of_their_own(told: Told) -> None:
    await told.provider.admit(alice(id="bob", email="bob@example.com"))
    await told.sign_in_from(HOME)

    await told.sign_in_from(CAFE, user_id="bob")

    assert told.subjects == []


async def test_of_many_sign_ins_at_once_none_is_forgotten(told: Told) -> None:
    cookie = await told.sign_in_from(HOME)

    await asyncio.gather(*(told.sign_in_from(f"198.51.100.{number}", cookie) for number in range(4)))

    assert await typs(told) == ["LoginNewLocation"] * 4


async def test_places_are_not_kept_without_end(told: Told) -> None:
    cookie = await told.sign_in_from(HOME)
    for number in range(MOST_PLACES + 5):
        await told.sign_in_from(f"198.51.100.{number}", cookie)

    (kept,) = await told.store.of(SIGN_IN_PLACES).page(told.tenant.tenant_id)
    assert len(kept.places) == MOST_PLACES
    assert kept.places[-1] == f"198.51.100.{MOST_PLACES + 4}"


async def test_places_go_with_the_account(told: Told) -> None:
    await told.sign_in_from(HOME)

    await told.users.delete(told.tenant, ALICE, KEY)

    assert list(await told.store.of(SIGN_IN_PLACES).page(told.tenant.tenant_id)) == []
