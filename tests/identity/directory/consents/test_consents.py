"""Consents of users: one for each client, which grows and is withdrawn as a whole."""

import asyncio
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from identity.directory.client import ClientId
from identity.directory.consents.consent import MOST_REMEMBERED, Terms
from identity.directory.consents.consents import Consents
from identity.directory.user import UserId
from tests.identity.browsers import NOON, Provider

ALICE, BOB = UserId("alice"), UserId("bob")
APP, SHOP = ClientId("app"), ClientId("shop")
OPENID = Terms(oauth_scopes=("openid",))
EMAIL = Terms(oauth_scopes=("email",), resources=("https://api.example.com/",), claims=("birthdate",))

names = st.lists(st.sampled_from("abcd"), unique=True).map(tuple)
terms = st.builds(Terms, oauth_scopes=names, resources=names, claims=names, authorization_details=names)


@pytest.fixture
def provider() -> Provider:
    return Provider()


@pytest.fixture
def consents(provider: Provider) -> Consents:
    return provider.consents


@given(terms, terms)
def test_wider_terms_cover_both_and_nothing_else(before: Terms, more: Terms) -> None:
    widened = before.widened(more)

    assert widened.cover(before)
    assert widened.cover(more)
    assert set(widened.oauth_scopes) == {*before.oauth_scopes, *more.oauth_scopes}
    assert set(widened.authorization_details) == {*before.authorization_details, *more.authorization_details}
    assert before.cover(more) == before.cover(widened)


def test_of_many_authorization_details_the_latest_are_remembered() -> None:
    details = [f'{{"type":"payment","amount":"{number}"}}' for number in range(MOST_REMEMBERED + 1)]
    grants = [Terms(oauth_scopes=(), authorization_details=(detail,)) for detail in details]

    kept = grants[0]
    for grant in (*grants[1:-1], grants[0], grants[-1]):
        kept = kept.widened(grant)

    assert kept.authorization_details == (*details[2:-1], details[0], details[-1])
    assert not kept.cover(grants[1])
    assert kept.cover(grants[0])


async def test_what_is_granted_later_stands_beside_what_was_before(
    provider: Provider, consents: Consents
) -> None:
    first = await consents.remember(provider.tenant, ALICE, APP, terms=OPENID)
    provider.clock.advance(timedelta(days=1))

    await consents.remember(provider.tenant, ALICE, APP, terms=EMAIL)

    [kept] = await consents.of_user(provider.tenant, ALICE)
    assert (kept.id, kept.terms) == (first.id, OPENID.widened(EMAIL))
    assert (first.granted_at, kept.granted_at) == (NOON, NOON + timedelta(days=1))


async def test_of_many_grants_at_a_time_none_is_lost(provider: Provider, consents: Consents) -> None:
    scopes = [f"scope-{number}" for number in range(10)]

    await asyncio.gather(
        *(
            consents.remember(provider.tenant, ALICE, APP, terms=Terms(oauth_scopes=(scope,)))
            for scope in scopes
        )
    )

    [kept] = await consents.of_user(provider.tenant, ALICE)
    assert set(kept.terms.oauth_scopes) == set(scopes)


async def test_what_is_taken_back_is_gone_as_a_whole(provider: Provider, consents: Consents) -> None:
    await consents.remember(provider.tenant, ALICE, APP, terms=EMAIL)
    other = await consents.remember(provider.tenant, ALICE, SHOP, terms=OPENID)

    taken = await consents.take(provider.tenant, ALICE, APP)
    again = await consents.take(provider.tenant, ALICE, APP)

    assert taken is not None
    assert (taken.terms, again) == (EMAIL, None)
    assert await consents.of_user(provider.tenant, ALICE) == [other]


async def test_what_is_granted_after_that_begins_anew(provider: Provider, consents: Consents) -> None:
    await consents.remember(provider.tenant, ALICE, APP, terms=EMAIL)
    await consents.take(provider.tenant, ALICE, APP)

    await consents.remember(provider.tenant, ALICE, APP, terms=OPENID)

    kept = await consents.find(provider.tenant, ALICE, APP)
    assert kept is not None
    assert kept.terms == OPENID
