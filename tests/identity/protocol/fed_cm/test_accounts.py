"""The account that a browser can offer: FedCM §3.3."""

from datetime import timedelta

import pytest

from identity.directory.consents.consent import Terms
from identity.protocol.fed_cm.people import FedCmBrowser
from server.platform.errors import Unauthenticated
from tests.identity.browsers import ACME, ADDRESS, ISSUER, NOON
from tests.identity.protocol.fed_cm.mediation import NOBODY, Mediation

SEEN = Terms(
    oauth_scopes=("openid",),
    claims=("name", "given_name", "family_name", "email", "email_verified", "picture"),
)


async def test_the_account_that_is_signed_in_is_offered(mediation: Mediation) -> None:
    browser = await mediation.sign_in()

    account = await mediation.accounts(browser)

    assert (account.user.id, account.name) == ("alice", "Alice Liddell")
    assert account.picture == f"{ISSUER}users/alice/picture/p1"
    assert account.login_hints == ("alice", "alice@example.com")
    assert account.domain_hints == ("example.com",)
    assert account.approved_clients == ()


@pytest.mark.parametrize(
    ("names", "name"),
    [
        ({"family_name": ""}, "Alice"),
        ({"given_name": "", "family_name": "", "preferred_username": "al"}, "al"),
        ({"given_name": "", "family_name": ""}, "alice@example.com"),
    ],
)
async def test_every_account_has_a_name(mediation: Mediation, names: dict[str, str], name: str) -> None:
    await mediation.change_person(**names)

    assert (await mediation.accounts(await mediation.sign_in())).name == name


async def test_a_domain_that_nobody_has_proved_is_no_hint(mediation: Mediation) -> None:
    await mediation.change_person(is_email_verified=False)

    assert (await mediation.accounts(await mediation.sign_in())).domain_hints == ()


@pytest.mark.parametrize(
    ("terms", "is_approved"),
    [
        pytest.param(SEEN, True, id="told by a browser"),
        pytest.param(Terms(oauth_scopes=("openid", "profile", "email")), True, id="asked on our page"),
        pytest.param(Terms(oauth_scopes=("openid", "email")), False, id="the address alone"),
        pytest.param(Terms(oauth_scopes=("openid",)), False, id="nothing but who it is"),
    ],
)
async def test_a_client_is_approved_once_the_person_granted_what_browsers_tell_of(
    mediation: Mediation, terms: Terms, *, is_approved: bool
) -> None:
    await mediation.grant(terms)

    account = await mediation.accounts(await mediation.sign_in())

    assert account.approved_clients == (("shop",) if is_approved else ())


async def test_without_a_way_nobody_is_offered(mediation: Mediation) -> None:
    await mediation.sign_in()

    with pytest.raises(Unauthenticated):
        await mediation.accounts(NOBODY)


@pytest.mark.parametrize(
    "change",
    [
        {"is_enabled": False},
        {"valid_until": NOON},
        {"is_self_registered": True, "is_email_verified": False},
    ],
    ids=["disabled", "expired", "unconfirmed"],
)
async def test_an_account_that_is_not_good_is_not_offered(
    mediation: Mediation, change: dict[str, object]
) -> None:
    browser = await mediation.sign_in()
    await mediation.change_person(**change)

    with pytest.raises(Unauthenticated):
        await mediation.accounts(browser)


async def test_where_nobody_has_to_confirm_an_unconfirmed_account_is_offered(mediation: Mediation) -> None:
    mediation.provider.confirmation.is_required = False
    await mediation.change_person(is_self_registered=True, is_email_verified=False)

    assert (await mediation.accounts(await mediation.sign_in())).user.id == "alice"


async def test_a_session_that_has_ended_offers_nobody(mediation: Mediation) -> None:
    browser = await mediation.sign_in()

    mediation.provider.clock.advance(timedelta(seconds=5400))

    with pytest.raises(Unauthenticated):
        await mediation.accounts(browser)


async def test_to_list_accounts_is_no_use_of_the_session(mediation: Mediation) -> None:
    browser = await mediation.sign_in()
    before = await mediation.session(browser)

    mediation.provider.clock.advance(timedelta(minutes=5))
    await mediation.accounts(browser)

    assert await mediation.session(browser) == before


async def test_another_tenants_session_offers_nobody_here(mediation: Mediation) -> None:
    browser = await mediation.sign_in(tenant=mediation.provider.tenants.find(ACME))

    with pytest.raises(Unauthenticated):
        await mediation.accounts(browser)


async def test_an_account_that_is_gone_is_not_offered(mediation: Mediation) -> None:
    browser = await mediation.sign_in("bob")

    with pytest.raises(Unauthenticated):
        await mediation.accounts(FedCmBrowser(way=browser.way, peer_address=ADDRESS))
