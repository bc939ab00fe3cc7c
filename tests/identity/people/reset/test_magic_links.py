import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from identity.directory.links.link import Usage
from identity.directory.user import UserId
from identity.people.reset.config import PasswordResetConfig
from identity.people.reset.magic_links import ShownLink
from server.platform.errors import InvalidArgument, NotFound, PermissionDenied, Unauthenticated
from tests.identity.administration.administration import ALICE
from tests.identity.browsers import ACME, ADDRESS, alice
from tests.identity.people.reset.resets import NEW_PASSWORD, Company, Resets

EXPIRED = "This link has expired already"


@pytest.mark.parametrize(
    ("usage", "minutes"), [(Usage.RESET_PASSWORD, 30), (Usage.NEW_ACCOUNT, 4320)], ids=str
)
async def test_a_link_is_good_for_as_long_as_is_configured(
    resets: Resets, usage: Usage, minutes: int
) -> None:
    shown = await resets.issue(usage)

    resets.clock.advance(timedelta(minutes=minutes, seconds=-1))
    opened = await resets.magic_links.open(resets.tenant, shown)

    assert opened.lifetime == timedelta(seconds=1)
    resets.clock.advance(timedelta(seconds=1))
    with pytest.raises(InvalidArgument, match=EXPIRED):
        await resets.magic_links.open(resets.tenant, shown)


async def test_a_link_that_was_used_is_known_to_be(resets: Resets) -> None:
    held = await resets.open(await resets.issue())
    await resets.set_password(held)

    with pytest.raises(InvalidArgument, match=EXPIRED):
        await resets.magic_links.open(resets.tenant, held)
    with pytest.raises(InvalidArgument, match=EXPIRED):
        await resets.set_password(held, "another one that is long")


async def test_there_is_no_link_of_an_unknown_code(resets: Resets) -> None:
    with pytest.raises(NotFound):
        await resets.magic_links.open(resets.tenant, ShownLink(user_id=ALICE, code="unheard-of"))


async def test_a_link_is_its_persons(resets: Resets) -> None:
    await resets.provider.admit(alice(id="bob", email="bob@example.com"))
    shown = await resets.issue()

    with pytest.raises(InvalidArgument):
        await resets.magic_links.open(resets.tenant, replace(shown, user_id=UserId("bob")))


async def test_a_link_is_its_tenants(resets: Resets) -> None:
    shown = await resets.issue()

    with pytest.raises(NotFound):
        await resets.magic_links.open(resets.provider.tenants.find(ACME), shown)


@pytest.mark.parametrize("usage", [Usage.CHANGE_EMAIL, Usage.REVOKE, Usage.CONFIRM_EMAIL], ids=str)
async def test_links_for_something_else_set_no_password(resets: Resets, usage: Usage) -> None:
    until = resets.clock.now() + timedelta(hours=1)
    code = await resets.links.issue(resets.tenant, ALICE, usage, until=until, value="{}")

    with pytest.raises(NotFound):
        await resets.magic_links.open(resets.tenant, ShownLink(user_id=ALICE, code=code))


async def test_a_link_belongs_to_the_browser_that_opens_it_first(resets: Resets) -> None:
    shown = await resets.issue()
    held = await resets.open(shown)

    again = await resets.open(held)

    assert again == held
    for stranger in (shown, replace(shown, cookie="s" * 48)):
        with pytest.raises(PermissionDenied):
            await resets.magic_links.open(resets.tenant, stranger)


async def test_of_many_browsers_that_open_a_link_at_once_it_belongs_to_one(resets: Resets) -> None:
    shown = await resets.issue()

    opened = await asyncio.gather(*(resets.open(shown) for _ in range(5)), return_exceptions=True)

    assert sum(isinstance(outcome, ShownLink) for outcome in opened) == 1
    assert sum(isinstance(outcome, PermissionDenied) for outcome in opened) == 4


async def test_a_browser_opens_several_links(resets: Resets) -> None:
    first = await resets.open(await resets.issue())
    second = await resets.open(replace(await resets.issue(), cookie=first.cookie))

    assert first.cookie == second.cookie
    await resets.magic_links.expect_held(resets.tenant, first)
    await resets.magic_links.expect_held(resets.tenant, second)


async def test_a_value_that_was_never_a_cookie_becomes_none(resets: Resets) -> None:
    shown = replace(await resets.issue(), cookie="chosen by somebody")

    held = await resets.open(shown)

    assert (len(held.cookie), held.cookie.isalnum()) == (48, True)


async def test_where_mail_is_scanned_a_link_belongs_to_the_browser_that_opens_it_last() -> None:
    resets = Resets(PasswordResetConfig(binds_first_browser=False))
    await resets.provider.admit(alice())
    shown = await resets.issue()
    scanner, person = await resets.open(shown), await resets.open(shown)

    with pytest.raises(PermissionDenied):
        await resets.set_password(scanner)

    await resets.set_password(person)
    resets.provider.passwords.close()


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"cookie": ""}, PermissionDenied),
        ({"csrf_token": ""}, Unauthenticated),
        ({"csrf_token": "0" * 48}, Unauthenticated),
        ({"cookie": "s" * 48}, Unauthenticated),
    ],
    ids=str,
)
async def test_nothing_is_done_but_from_the_page_of_the_browser(
    resets: Resets, change: dict[str, str], refusal: type[Exception]
) -> None:
    held = await resets.open(await resets.issue())

    with pytest.raises(refusal):
        await resets.set_password(replace(held, **change))

    await resets.set_password(held)


async def test_the_page_of_one_link_is_not_that_of_another(resets: Resets) -> None:
    first = await resets.open(await resets.issue())
    second = await resets.open(replace(await resets.issue(), cookie=first.cookie))

    with pytest.raises(Unauthenticated):
        await resets.set_password(replace(second, csrf_token=first.csrf_token))


@pytest.mark.parametrize(
    "change",
    [{"email": "alice@example.org"}, {"is_enabled": False}],
    ids=["another address", "a disabled account"],
)
async def test_a_link_is_good_for_the_account_that_it_was_sent_to(
    resets: Resets, change: dict[str, object]
) -> None:
    held = await resets.open(await resets.issue())
    await resets.change(**change)

    with pytest.raises(InvalidArgument, match=EXPIRED):
        await resets.set_password(held)


async def test_at_a_company_domain_an_old_link_is_dead(resets: Resets) -> None:
    held = await resets.open(await resets.issue())
    resets.companies.providers["example.com"] = Company()

    with pytest.raises(PermissionDenied) as refused:
        await resets.set_password(held)

    assert refused.value.metadata == {
        "cause": "COMPANY_SIGN_IN",
        "provider_id": Company().id,
        "provider": "Corp",
        "location": "https://id.example.com/auth/v1/sign-in",
        "issuer": "https://id.example.com/auth/v1/",
        "email": "alice@example.com",
    }
    resets.companies.providers.clear()
    with pytest.raises(InvalidArgument, match=EXPIRED):
        await resets.set_password(held)
    assert not await resets.has_password(NEW_PASSWORD)


async def test_what_names_a_link_is_shown_nowhere(resets: Resets) -> None:
    issued = await resets.magic_links.issue(resets.tenant, await resets.user(), Usage.RESET_PASSWORD)
    opened = await resets.magic_links.open(resets.tenant, ShownLink(user_id=ALICE, code=issued.code))
    held = await resets.open(ShownLink(user_id=ALICE, code=issued.code, cookie=opened.cookie))

    written = repr((issued, opened, held, await resets.events()))
    assert (len(issued.code), len(held.csrf_token)) == (64, 48)
    for secret in (issued.code, held.cookie, held.csrf_token):
        assert secret not in written


async def test_the_right_address_is_that_of_the_peer(resets: Resets) -> None:
    await resets.set_password(await resets.open(await resets.issue()))

    (told,) = [event for event in await resets.events() if event.type == "UserPasswordReset"]
    assert (told.ip, told.user_id, told.text) == (ADDRESS, ALICE, "alice@example.com")
