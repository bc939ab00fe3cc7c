"""Sign-in targets of e-mail addresses."""

import pytest

from identity.directory.tenants.settings import EmailFirst, TenantSettings
from identity.directory.tenants.sign_in_domain import Target, TargetType
from identity.directory.tenants.sign_in_targets import PASSWORD_PAGE, Route
from tests.identity.administration.tenants.domains import (
    ACME,
    ACTOR,
    DEFAULT,
    UMBRELLA,
    Domains,
    Provider,
    among,
    at_provider,
)

NAME = "example.com"
ADDRESS = "user@example.com"
GOOGLE, OKTA = Provider("google"), Provider("okta")


@pytest.fixture
async def domains() -> Domains:
    domains = Domains()
    await domains.keep_tenants()
    domains.providers.add(ACME, GOOGLE, OKTA)
    return domains


async def is_email_first(domains: Domains) -> bool:
    return await domains.targets.is_email_first(domains.tenant(ACME))


async def route(domains: Domains, email: str = ADDRESS) -> Route:
    return await domains.targets.route_of(domains.tenant(ACME), email)


async def test_e1_without_a_verified_domain_the_page_is_single_screen(domains: Domains) -> None:
    await domains.verified(UMBRELLA, NAME)

    assert not await is_email_first(domains)


async def test_e2_with_a_verified_domain_the_address_comes_first(domains: Domains) -> None:
    await domains.verified(ACME, NAME)

    assert await is_email_first(domains)


async def test_e3_a_tenant_may_have_it_off() -> None:
    domains = Domains()
    await domains.keep_tenants({ACME: TenantSettings(email_first=EmailFirst.OFF)})
    domains.providers.add(ACME, OKTA)
    await domains.verified(ACME, NAME, at_provider("okta"))

    assert not await is_email_first(domains)
    assert await route(domains) == PASSWORD_PAGE


async def test_e4_a_domain_that_waits_counts_for_nothing(domains: Domains) -> None:
    await domains.add(ACME, NAME, at_provider("okta"))

    assert not await is_email_first(domains)
    assert await route(domains) == PASSWORD_PAGE
    assert await domains.targets.target_of(domains.tenant(ACME), ADDRESS) is None
    assert await domains.targets.owner_of(NAME) is None


async def test_e5_with_the_last_verified_domain_it_goes(domains: Domains) -> None:
    await domains.verified(ACME, NAME)
    await domains.verified(ACME, "example.org")

    await domains.administration.remove(ACME, NAME, actor=ACTOR)
    with_one = await is_email_first(domains)
    await domains.administration.remove(ACME, "example.org", actor=ACTOR)

    assert [with_one, await is_email_first(domains)] == [True, False]


async def test_e6_where_one_tenant_is_served_the_page_stays_single_screen() -> None:
    alone = Domains(others=())
    await alone.keep_tenants()
    await alone.verified(DEFAULT, NAME)

    assert not await alone.targets.is_email_first(alone.tenants.default)


async def test_e7_the_target_is_a_provider(domains: Domains) -> None:
    await domains.verified(ACME, NAME, at_provider("okta"))

    assert Route(TargetType.PROVIDER, (OKTA,)) == await route(domains)


async def test_e8_a_choice_is_of_those_that_are_enabled(domains: Domains) -> None:
    await domains.verified(ACME, NAME, among("google", "okta"))

    of_both = await route(domains)
    domains.providers.add(ACME, Provider("google", is_enabled=False))
    of_one = await route(domains)

    assert [of_both.providers, of_one.providers] == [(GOOGLE, OKTA), (OKTA,)]
    assert {of_both.type, of_one.type} == {TargetType.CHOICE}


async def test_e9_the_target_is_the_password_page(domains: Domains) -> None:
    await domains.verified(ACME, NAME)

    assert await route(domains) == PASSWORD_PAGE
    assert Target() == await domains.targets.target_of(domains.tenant(ACME), ADDRESS)


@pytest.mark.parametrize("address", ["USER@Example.COM", "user@example.com.", "user@example。com"])
async def test_e11_an_address_is_at_its_domain_however_that_is_written(
    domains: Domains, address: str
) -> None:
    await domains.verified(ACME, NAME, at_provider("okta"))

    assert (await route(domains, address)).providers == (OKTA,)


@pytest.mark.parametrize("address", ["u@Bücher.example", "u@xn--bcher-kva.example", "u@BÜCHER.EXAMPLE."])
async def test_e11_an_internationalized_domain_is_one_domain(domains: Domains, address: str) -> None:
    await domains.verified(ACME, "bücher.example", at_provider("okta"))

    assert (await route(domains, address)).providers == (OKTA,)


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("user@sub.example.com", id="E12"),
        pytest.param("user@evilexample.com", id="E13"),
        *("user@com", "user@example.com.evil", "user@example.com@evil.example", "user@", "example.com@", ""),
    ],
)
async def test_e12_e13_every_other_address_is_outside(domains: Domains, address: str) -> None:
    await domains.verified(ACME, NAME, at_provider("okta"))

    assert await route(domains, address) == PASSWORD_PAGE
    assert await domains.targets.target_of(domains.tenant(ACME), address) is None


@pytest.mark.parametrize("target", [at_provider("okta"), among("okta")])
async def test_e14_without_its_provider_a_domain_has_the_password_page(
    domains: Domains, target: Target
) -> None:
    await domains.verified(ACME, NAME, target)

    domains.providers.add(ACME, Provider("okta", is_enabled=False))
    disabled = await route(domains)
    domains.providers.known.clear()
    deleted = await route(domains)

    assert disabled == deleted == PASSWORD_PAGE


async def test_a_domain_leads_nowhere_at_another_tenant(domains: Domains) -> None:
    await domains.verified(ACME, NAME, at_provider("okta"))
    await domains.verified(UMBRELLA, "example.org")
    umbrella = domains.tenant(UMBRELLA)

    assert await domains.targets.route_of(umbrella, ADDRESS) == PASSWORD_PAGE
    assert await domains.targets.target_of(umbrella, ADDRESS) is None


async def test_e23_a_verified_domain_has_an_owner_while_that_is_served(domains: Domains) -> None:
    await domains.verified(ACME, NAME)

    served = await domains.targets.owner_of("EXAMPLE.com.")
    domains.tenants.know([])

    assert served is not None
    assert served.tenant_id == ACME
    assert await domains.targets.owner_of(NAME) is None


@pytest.mark.parametrize(
    ("target", "provider"),
    [
        pytest.param(at_provider("okta"), OKTA, id="R29 a provider"),
        pytest.param(among("okta"), None, id="R31 a choice"),
        pytest.param(Target(), None, id="R31 the password page"),
    ],
)
async def test_r29_r31_a_company_signs_in_whom_its_provider_alone_does(
    domains: Domains, target: Target, provider: Provider | None
) -> None:
    await domains.verified(ACME, NAME, target)
    acme = domains.tenant(ACME)

    assert await domains.targets.provider_in_charge(acme, "USER@Example.com") == provider
    assert await domains.targets.provider_in_charge(acme, "user@sub.example.com") is None
    assert await domains.targets.provider_in_charge(domains.tenant(UMBRELLA), ADDRESS) is None


async def test_r29_it_does_so_whatever_the_sign_in_page_asks_for_first() -> None:
    domains = Domains()
    await domains.keep_tenants({ACME: TenantSettings(email_first=EmailFirst.OFF)})
    domains.providers.add(ACME, OKTA)
    await domains.verified(ACME, NAME, at_provider("okta"))

    assert await domains.targets.provider_in_charge(domains.tenant(ACME), ADDRESS) == OKTA


async def test_f1_a_provider_that_is_disabled_signs_nobody_in(domains: Domains) -> None:
    domains.providers.add(ACME, Provider("okta", is_enabled=False))
    await domains.verified(ACME, NAME, at_provider("okta"))

    assert await domains.targets.provider_in_charge(domains.tenant(ACME), ADDRESS) is None
