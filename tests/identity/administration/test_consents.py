import pytest

from identity.directory.client import ClientId
from identity.directory.consents.consent import Terms
from identity.directory.user import UserId
from server.platform.errors import NotFound
from tests.identity.administration.administration import ALICE, ROOT, Administration
from tests.identity.browsers import app

BOB = UserId("bob")
APP = ClientId("app")
EMAIL = Terms(oauth_scopes=("openid", "email"))


async def consented(administration: Administration, user_id: UserId = ALICE, client_id: str = "app") -> None:
    await administration.provider.consents.remember(
        administration.tenant, user_id, ClientId(client_id), terms=EMAIL
    )


async def test_a_person_sees_who_has_what(administration: Administration) -> None:
    await administration.provider.register(app(id="shop", name="The shop"))
    await consented(administration, client_id="shop")
    await consented(administration, BOB)

    [listed] = await administration.consents.of_user(administration.tenant, ALICE)

    assert (listed.client_name, listed.consent.client_id, listed.consent.terms) == ("The shop", "shop", EMAIL)


async def test_what_is_taken_back_ends_the_tokens_that_came_of_it(administration: Administration) -> None:
    await consented(administration)
    await administration.grant()
    await administration.grant(device_id="phone")
    others = [
        await administration.grant(client_id="shop"),
        await administration.grant(BOB),
    ]

    await administration.consents.withdraw(administration.tenant, ALICE, APP, actor=ROOT)

    assert await administration.consents.of_user(administration.tenant, ALICE) == []
    left = await administration.live_token_sets()
    assert {token_set.id for token_set in left} == {token_set.id for token_set in others}
    assert ("ConsentWithdrawn", "openid email") in await administration.told_of()


async def test_what_was_never_granted_is_not_found_and_its_tokens_end_anyway(
    administration: Administration,
) -> None:
    await administration.grant()

    with pytest.raises(NotFound):
        await administration.consents.withdraw(administration.tenant, ALICE, APP, actor=ROOT)

    assert await administration.live_token_sets() == []


async def test_nothing_is_left_of_a_person_who_is_removed(administration: Administration) -> None:
    user = await administration.user()
    await consented(administration, user.user_id)

    await administration.users.delete(administration.tenant, user.user_id, ROOT)

    assert await administration.consents.of_user(administration.tenant, user.user_id) == []
