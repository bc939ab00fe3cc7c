from datetime import timedelta

import pytest

from identity.directory.links.link import LINKS, Usage
from identity.directory.links.links import CODE_LENGTH, Links
from identity.directory.secrets import SecretHasher
from identity.directory.user import UserId
from identity.foundation.tenants import Tenant
from server.platform.records import Changed
from tests.identity.browsers import NOON, Provider

ALICE, BOB = UserId("alice"), UserId("bob")
UNTIL = NOON + timedelta(minutes=30)


@pytest.fixture
def provider() -> Provider:
    return Provider()


@pytest.fixture
def links(provider: Provider) -> Links:
    return Links(provider.store, SecretHasher(b"key"), clock=provider.clock, randomness=provider.randomness)


async def test_a_link_is_found_by_its_person_usage_and_code(provider: Provider, links: Links) -> None:
    code = await links.issue(provider.tenant, ALICE, Usage.CHANGE_EMAIL, until=UNTIL, value="a@example.org")

    link = await links.find(provider.tenant, ALICE, Usage.CHANGE_EMAIL, code)

    assert len(code) == CODE_LENGTH
    assert link is not None
    assert (link.value, link.good_until, link.is_good(NOON)) == ("a@example.org", UNTIL, True)
    assert await links.find(provider.tenant, BOB, Usage.CHANGE_EMAIL, code) is None
    assert await links.find(provider.tenant, ALICE, Usage.RESET_PASSWORD, code) is None
    assert await links.find(provider.tenant, ALICE, Usage.CHANGE_EMAIL, code[:-1]) is None


async def test_a_link_of_one_tenant_is_unknown_in_another(provider: Provider, links: Links) -> None:
    code = await links.issue(provider.tenant, ALICE, Usage.CONFIRM_EMAIL, until=UNTIL)
    elsewhere = Tenant("umbrella", "https://umbrella.example.com/auth/v1/")

    assert await links.find(elsewhere, ALICE, Usage.CONFIRM_EMAIL, code) is None


async def test_the_code_is_nowhere_in_the_store(provider: Provider, links: Links) -> None:
    code = await links.issue(provider.tenant, ALICE, Usage.CONFIRM_EMAIL, until=UNTIL)

    assert code not in str(await provider.store.of(LINKS).page(provider.tenant.tenant_id))


async def test_a_link_is_redeemed_once(provider: Provider, links: Links) -> None:
    code = await links.issue(provider.tenant, ALICE, Usage.RESET_PASSWORD, until=UNTIL)
    link = await links.find(provider.tenant, ALICE, Usage.RESET_PASSWORD, code)
    assert link is not None

    assert [await links.redeem(link), await links.redeem(link)] == [True, False]

    used = await links.find(provider.tenant, ALICE, Usage.RESET_PASSWORD, code)
    assert used is not None
    assert not used.is_good(NOON)
    assert not await links.redeem(used)


async def test_a_link_that_has_ended_is_known_and_not_good(provider: Provider, links: Links) -> None:
    code = await links.issue(provider.tenant, ALICE, Usage.RESET_PASSWORD, until=UNTIL)
    provider.clock.advance(timedelta(minutes=30))

    link = await links.find(provider.tenant, ALICE, Usage.RESET_PASSWORD, code)

    assert link is not None
    assert not link.is_good(provider.clock.now())
    assert not await links.redeem(link)
    provider.clock.advance(timedelta(days=7))
    assert await links.find(provider.tenant, ALICE, Usage.RESET_PASSWORD, code) is None


async def test_one_browser_alone_uses_a_link(provider: Provider, links: Links) -> None:
    code = await links.issue(provider.tenant, ALICE, Usage.RESET_PASSWORD, until=UNTIL)
    link = await links.find(provider.tenant, ALICE, Usage.RESET_PASSWORD, code)
    assert link is not None

    bound = await links.bind(link, "mine")

    with pytest.raises(Changed):
        await links.bind(link, "another's")
    assert bound.binding == "mine"
    assert not await links.redeem(link)
    assert await links.redeem(bound)


async def test_cancelling_forgets_the_links_of_one_usage(provider: Provider, links: Links) -> None:
    confirm = await links.issue(provider.tenant, ALICE, Usage.CONFIRM_EMAIL, until=UNTIL)
    reset = await links.issue(provider.tenant, ALICE, Usage.RESET_PASSWORD, until=UNTIL)
    others = await links.issue(provider.tenant, BOB, Usage.CONFIRM_EMAIL, until=UNTIL)

    await links.cancel(provider.tenant, ALICE, Usage.CONFIRM_EMAIL)

    assert await links.find(provider.tenant, ALICE, Usage.CONFIRM_EMAIL, confirm) is None
    assert await links.find(provider.tenant, ALICE, Usage.RESET_PASSWORD, reset) is not None
    assert await links.find(provider.tenant, BOB, Usage.CONFIRM_EMAIL, others) is not None
