"""ID tokens for pages of clients: FedCM §3.5."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from identity.crypto.jose.encryption import KeyManagement
from identity.directory.client import ClientId
from identity.directory.consents.consent import Terms
from identity.directory.own_clients import CONSOLE_CLIENT_ID, own_clients
from identity.directory.terms_of_use.terms import TERMS_VERSIONS, TermsVersion
from identity.directory.user import UserId
from identity.foundation.errors import (
    AccessDenied,
    ConsentRequired,
    InteractionRequired,
    LoginRequired,
    UnauthorizedClient,
)
from identity.foundation.vocabulary import AuthenticationMethod, ConsentMode, GrantType
from identity.protocol.fed_cm.disclosure import Disclosure
from server.platform.errors import InvalidArgument, Unauthenticated
from tests.identity.browsers import ISSUER, NOON, Provider
from tests.identity.protocol.fed_cm.mediation import NOBODY, ORIGIN, TOLD, Mediation, person, shop

CONFIDENTIAL = {
    "token_endpoint_auth_method": AuthenticationMethod.CLIENT_SECRET_BASIC,
    "secret_hash": b"hash",
}


async def test_the_token_says_who_signed_in_to_whom(mediation: Mediation) -> None:
    browser = await mediation.sign_in()
    session = await mediation.session(browser)

    claims = await mediation.issue(browser)

    at = int(NOON.timestamp())
    assert session is not None
    assert claims == {
        "iss": ISSUER,
        "sub": "alice",
        "aud": "shop",
        "azp": "shop",
        "typ": "Id",
        "nonce": "n1",
        "iat": at,
        "nbf": at,
        "exp": at + 1800,
        "auth_time": at,
        "amr": ["pwd"],
        "acr": "level",
        "sid": session.sid,
        "roles": [],
        "email": "alice@example.com",
        "email_verified": True,
        "name": "Alice Liddell",
        "given_name": "Alice",
        "family_name": "Liddell",
        "picture": f"{ISSUER}users/alice/picture/p1",
    }


async def test_without_a_nonce_the_token_has_none(mediation: Mediation) -> None:
    claims = await mediation.issue(await mediation.sign_in(), nonce="")

    assert "nonce" not in claims


async def test_the_session_remembers_the_client_that_hears_of_the_logout(mediation: Mediation) -> None:
    browser = await mediation.sign_in()

    await mediation.issue(browser)

    session = await mediation.session(browser)
    assert session is not None
    assert session.clients == (ClientId("shop"),)


async def test_a_token_is_a_use_of_the_session(mediation: Mediation) -> None:
    browser = await mediation.sign_in()
    mediation.provider.clock.advance(timedelta(minutes=5))

    await mediation.issue(browser)

    session = await mediation.session(browser)
    assert session is not None
    assert session.idle_until == NOON + timedelta(minutes=95)


async def test_what_the_browser_told_is_remembered_and_told_of_once(mediation: Mediation) -> None:
    browser = await mediation.sign_in()

    await mediation.issue(browser)
    await mediation.issue(browser)

    consent = await mediation.consent()
    assert consent is not None
    assert consent.terms.oauth_scopes == ("openid",)
    assert set(consent.terms.claims) == {
        *("name", "given_name", "family_name", "email", "email_verified", "picture"),
    }
    assert await mediation.events() == [("ConsentGranted", "openid", "shop")]
    assert (await mediation.accounts(browser)).approved_clients == ("shop",)


async def test_several_tabs_at_once_all_get_a_token(mediation: Mediation) -> None:
    browser = await mediation.sign_in()

    tokens = await asyncio.gather(*(mediation.issue(browser) for _ in range(5)))

    session = await mediation.session(browser)
    assert [claims["sub"] for claims in tokens] == ["alice"] * 5
    assert session is not None
    assert session.clients == (ClientId("shop"),)


async def test_every_token_is_reported(mediation: Mediation) -> None:
    await mediation.issue(await mediation.sign_in())

    assert [statement.client.id for statement in mediation.reported] == ["shop"]


@pytest.mark.parametrize(
    "page",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": f"{ORIGIN}:8443"},
        {"origin": ORIGIN.replace("https", "http")},
        {"client_id": "unknown"},
        {"client_id": ""},
    ],
    ids=str,
)
async def test_a_page_that_is_not_the_clients_is_refused_before_anything_is_looked_at(
    mediation: Mediation, page: dict[str, str]
) -> None:
    with pytest.raises(InvalidArgument, match="no client with this id and origin"):
        await mediation.issue(NOBODY, **page)


async def test_a_disabled_client_is_answered_like_none(mediation: Mediation) -> None:
    await mediation.change_client(is_enabled=False)

    with pytest.raises(InvalidArgument, match="no client with this id and origin"):
        await mediation.issue(await mediation.sign_in())


async def test_the_providers_own_clients_have_no_such_pages(mediation: Mediation) -> None:
    own = [client for client in own_clients(mediation.tenant) if client.id == CONSOLE_CLIENT_ID]
    await mediation.provider.register(*own)

    with pytest.raises(InvalidArgument):
        await mediation.issue(
            await mediation.sign_in(), client_id=CONSOLE_CLIENT_ID, origin=mediation.tenant.origin
        )


async def test_a_registered_origin_is_compared_without_regard_to_case(mediation: Mediation) -> None:
    await mediation.change_client(allowed_origins=("HTTPS://App.Example.com",))

    assert (await mediation.issue(await mediation.sign_in()))["sub"] == "alice"


async def test_nobody_gets_a_token_without_a_session(mediation: Mediation) -> None:
    with pytest.raises(Unauthenticated) as refusal:
        await mediation.issue(NOBODY)

    assert refusal.value.metadata == {}


async def test_a_token_is_for_the_account_that_is_signed_in_alone(mediation: Mediation) -> None:
    await mediation.provider.admit(person(id="bob", email="bob@example.com"))

    with pytest.raises(Unauthenticated) as refusal:
        await mediation.issue(await mediation.sign_in("bob"))

    assert refusal.value.metadata == {"cause": "ANOTHER_ACCOUNT"}


@pytest.mark.parametrize(
    "change",
    [
        {"is_enabled": False},
        {"valid_until": NOON},
        {"is_self_registered": True, "is_email_verified": False},
    ],
    ids=["disabled", "expired", "unconfirmed"],
)
async def test_an_account_that_is_not_good_gets_no_token(
    mediation: Mediation, change: dict[str, object]
) -> None:
    browser = await mediation.sign_in()
    await mediation.change_person(**change)

    with pytest.raises(Unauthenticated):
        await mediation.issue(browser)


async def test_a_client_for_some_groups_takes_nobody_else(mediation: Mediation) -> None:
    await mediation.change_client(restrict_group_prefix="staff")
    browser = await mediation.sign_in()

    with pytest.raises(AccessDenied):
        await mediation.issue(browser)

    assert await mediation.events() == [("LoginRefused", "GROUP_REQUIRED", "shop")]
    assert await mediation.consent() is None


async def test_a_client_that_wants_a_second_factor_takes_nobody_without(mediation: Mediation) -> None:
    await mediation.change_client(requires_mfa=True)

    with pytest.raises(InteractionRequired):
        await mediation.issue(await mediation.sign_in())

    assert await mediation.events() == [("LoginRefused", "SECOND_FACTOR_REQUIRED", "shop")]
    assert (await mediation.issue(await mediation.sign_in(amr=("pwd", "mfa"))))["amr"] == ["pwd", "mfa"]


@pytest.mark.parametrize(
    "client",
    [
        {"grant_types": frozenset({GrantType.CLIENT_CREDENTIALS})},
        {"oauth_scopes": ("email",)},
        CONFIDENTIAL,
        {"requires_signed_request": True},
        {"id_token_encrypted_response_alg": KeyManagement.ECDH_ES},
    ],
    ids=["signs nobody in", "no openid", "confidential", "signs its requests", "encrypted"],
)
async def test_a_client_that_may_not_gets_no_token(mediation: Mediation, client: dict[str, Any]) -> None:
    await mediation.change_client(**client)

    with pytest.raises(UnauthorizedClient):
        await mediation.issue(await mediation.sign_in())


async def test_whoever_signed_in_too_long_ago_for_the_client_gets_no_token(mediation: Mediation) -> None:
    await mediation.change_client(default_max_age=600)
    browser = await mediation.sign_in()
    mediation.provider.clock.advance(timedelta(seconds=600))
    in_time = await mediation.issue(browser)

    mediation.provider.clock.advance(timedelta(seconds=1))

    assert in_time["sub"] == "alice"
    with pytest.raises(LoginRequired):
        await mediation.issue(browser)


async def test_a_confidential_client_gets_one_where_an_administrator_wants_it(mediation: Mediation) -> None:
    await mediation.change_client(**CONFIDENTIAL, has_fed_cm=True)

    assert (await mediation.issue(await mediation.sign_in()))["aud"] == "shop"


async def test_whoever_has_to_be_asked_is_not_signed_in_silently(mediation: Mediation) -> None:
    await mediation.change_client(consent=ConsentMode.ONCE)
    browser = await mediation.sign_in()

    with pytest.raises(ConsentRequired):
        await mediation.issue(browser, disclosure=Disclosure(is_silent=True))

    assert await mediation.consent() is None


async def test_an_attribute_that_a_default_scope_opens_is_in_the_token(mediation: Mediation) -> None:
    await mediation.change_client(
        oauth_scopes=("openid", "email", "groups"), default_scopes=("openid", "groups")
    )
    await mediation.change_person(groups=("readers",))

    claims = await mediation.issue(await mediation.sign_in())

    assert (claims["groups"], "name" in claims) == (["readers"], False)


async def test_a_client_of_the_default_tenant_signs_people_of_another_in_where_it_is_known() -> None:
    provider = Provider()
    acme = provider.tenants.find("acme")
    provider.tenant = acme
    mediation = Mediation(provider)
    await provider.register(shop(tenant_ids=("acme",)))
    await provider.admit(person(tenant_id="acme"))

    claims = await mediation.issue(await mediation.sign_in(tenant=acme))

    assert (claims["iss"], claims["sub"]) == (acme.issuer, "alice")


async def test_what_was_granted_before_stays(mediation: Mediation) -> None:
    await mediation.change_client(consent=ConsentMode.ONCE)
    await mediation.grant(Terms(oauth_scopes=("openid", "groups")))

    await mediation.issue(await mediation.sign_in(), disclosure=TOLD)

    consent = await mediation.consent()
    assert consent is not None
    assert consent.terms.oauth_scopes == ("openid", "groups")


async def test_whoever_has_to_accept_terms_of_use_signs_in_again(mediation: Mediation) -> None:
    browser = await mediation.sign_in()
    version = TermsVersion(
        tenant_id=mediation.tenant.tenant_id,
        id="1",
        uri="https://example.com/terms",
        texts=(),
        holds_from=NOON,
        is_accepted_again=True,
        accept_until=None,
        published_at=NOON,
    )
    await mediation.provider.store.of(TERMS_VERSIONS).insert(version)

    with pytest.raises(LoginRequired, match="terms of use"):
        await mediation.issue(browser)

    await mediation.provider.terms.accept(
        mediation.tenant, UserId("alice"), version, client_id=ClientId("shop")
    )
    assert (await mediation.issue(browser))["sub"] == "alice"
