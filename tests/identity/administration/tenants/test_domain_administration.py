"""Administration of a tenant's domains: add, verify and remove."""

from datetime import timedelta

import pytest

from identity.administration.tenants.domain_administration import MOST_DOMAINS
from identity.administration.tenants.removal import TenantRemoval
from identity.directory.tenants.sign_in_domain import SIGN_IN_DOMAINS, Target, TargetType
from identity.directory.tenants.tenant_directory import TenantDirectory
from identity.directory.tenants.tenant_record import DEPLOYMENT
from identity.foundation.events.kinds import EventType
from identity.records import KINDS
from server.platform.call import TenantId
from server.platform.errors import AlreadyExists, InvalidArgument, InvalidState, NotFound
from tests.identity.administration.tenants.domains import (
    ACME,
    ACTOR,
    PASSWORD,
    UMBRELLA,
    Domains,
    Provider,
    among,
    at_provider,
)
from tests.identity.deployment import NOON

NAME = "example.com"
TXT_NAME = "_gnomon-challenge.example.com"


@pytest.fixture
async def domains() -> Domains:
    domains = Domains()
    await domains.keep_tenants()
    return domains


async def test_a_domain_waits_with_a_value_that_is_its_tenants_alone(domains: Domains) -> None:
    await domains.add(ACME, "Example.COM.")
    await domains.add(ACME, "example.org")
    await domains.add(UMBRELLA, NAME)

    (first, second), (third,) = (
        await domains.administration.all(ACME),
        await domains.administration.all(UMBRELLA),
    )
    assert (first.name, first.txt_name, first.is_verified) == (NAME, TXT_NAME, False)
    assert first.expires_at == NOON + timedelta(days=14)
    assert len({first.txt_value, second.txt_value, third.txt_value}) == 3


async def test_a_domain_with_its_txt_record_is_verified_for_good(domains: Domains) -> None:
    await domains.add(ACME, NAME)
    await domains.publish(ACME, NAME)

    await domains.verify(ACME, "EXAMPLE.com")
    domains.clock.pin(NOON + timedelta(days=400))

    [domain] = await domains.administration.all(ACME)
    assert (domain.verified_at, domain.expires_at) == (NOON, None)


async def test_a_domain_without_its_txt_record_waits_on(domains: Domains) -> None:
    await domains.add(ACME, NAME)

    with pytest.raises(InvalidState, match=TXT_NAME):
        await domains.verify(ACME, NAME)

    assert not [domain for domain in await domains.administration.all(ACME) if domain.is_verified]


async def test_the_value_of_another_tenant_verifies_nothing(domains: Domains) -> None:
    await domains.add(ACME, NAME)
    await domains.add(UMBRELLA, NAME)
    await domains.publish(ACME, NAME)

    with pytest.raises(InvalidState):
        await domains.verify(UMBRELLA, NAME)


async def test_a_domain_that_is_verified_is_not_looked_up_again(domains: Domains) -> None:
    await domains.verified(ACME, NAME)

    await domains.verify(ACME, NAME)

    assert domains.texts.asked_for == []


async def test_e22_a_domain_is_verified_for_one_tenant(domains: Domains) -> None:
    await domains.verified(ACME, NAME)
    await domains.add(UMBRELLA, NAME)
    await domains.publish(UMBRELLA, NAME)

    with pytest.raises(AlreadyExists):
        await domains.verify(UMBRELLA, NAME)
    with pytest.raises(AlreadyExists):
        await domains.administration.vouch_for(UMBRELLA, NAME, actor=ACTOR)

    assert await domains.targets.owner_of(NAME) == domains.tenant(ACME)


async def test_a_domain_that_was_removed_is_free_for_others(domains: Domains) -> None:
    await domains.verified(ACME, NAME)

    await domains.administration.remove(ACME, NAME, actor=ACTOR)
    await domains.verified(UMBRELLA, NAME)

    assert await domains.names(ACME) == []
    assert await domains.targets.owner_of(NAME) == domains.tenant(UMBRELLA)


async def test_the_domains_of_a_removed_tenant_go_with_it(domains: Domains) -> None:
    await domains.verified(ACME, NAME)
    await domains.verified(UMBRELLA, "example.org")
    directory = TenantDirectory(domains.tenants, domains.store, domains.clock)
    await domains.delete(ACME)

    await TenantRemoval(directory, domains.store, KINDS, clock=domains.clock).remove_all_of(ACME)

    assert not await domains.store.of(SIGN_IN_DOMAINS).find(DEPLOYMENT, "owner", ACME)
    assert await domains.names(UMBRELLA) == ["example.org"]


async def test_a_domain_that_nobody_verifies_goes(domains: Domains) -> None:
    await domains.add(ACME, NAME)
    await domains.publish(ACME, NAME)

    domains.clock.pin(NOON + timedelta(days=14))

    assert await domains.names(ACME) == []
    with pytest.raises(NotFound):
        await domains.verify(ACME, NAME)


async def test_a_domain_of_another_tenant_is_as_good_as_unknown(domains: Domains) -> None:
    await domains.verified(UMBRELLA, NAME)

    for name in (NAME, "nobody.example", "no domain"):
        with pytest.raises(NotFound, match="there is no such domain"):
            await domains.verify(ACME, name)
        with pytest.raises(NotFound, match="there is no such domain"):
            await domains.administration.change_target(ACME, name, PASSWORD, actor=ACTOR)
        with pytest.raises(NotFound, match="there is no such domain"):
            await domains.administration.remove(ACME, name, actor=ACTOR)
    await domains.add(ACME, NAME)


async def test_a_tenant_has_a_domain_once(domains: Domains) -> None:
    await domains.add(ACME, NAME)

    with pytest.raises(AlreadyExists):
        await domains.add(ACME, "EXAMPLE.com.")


async def test_a_tenant_has_so_many_domains(domains: Domains) -> None:
    for number in range(MOST_DOMAINS):
        await domains.add(ACME, f"{number}.example.com")

    with pytest.raises(InvalidState):
        await domains.add(ACME, NAME)

    assert len(await domains.names(ACME)) == MOST_DOMAINS


async def test_what_is_no_tenant_has_no_domains(domains: Domains) -> None:
    with pytest.raises(NotFound, match="tenant"):
        await domains.add(TenantId("nobody"), NAME)


@pytest.mark.parametrize("target", [at_provider("okta"), among("google", "okta")])
async def test_e15_providers_of_other_tenants_are_refused(domains: Domains, target: Target) -> None:
    domains.providers.add(ACME, Provider("google"))
    domains.providers.add(UMBRELLA, Provider("okta"))
    await domains.add(ACME, "example.org")

    with pytest.raises(InvalidArgument):
        await domains.add(ACME, NAME, target)
    with pytest.raises(InvalidArgument):
        await domains.administration.change_target(ACME, "example.org", target, actor=ACTOR)

    [domain] = await domains.administration.all(ACME)
    assert (domain.name, domain.target) == ("example.org", PASSWORD)


@pytest.mark.parametrize(
    ("kind", "provider_ids"),
    [
        (TargetType.PROVIDER, ()),
        (TargetType.PROVIDER, ("a", "b")),
        (TargetType.CHOICE, ()),
        (TargetType.CHOICE, ("a", "a")),
        (TargetType.CHOICE, tuple("abcdefghijk")),
        (TargetType.CHOICE, ("",)),
        (TargetType.PASSWORD, ("a",)),
    ],
)
def test_a_target_has_the_providers_that_its_type_asks_for(
    kind: TargetType, provider_ids: tuple[str, ...]
) -> None:
    with pytest.raises(ValueError, match="target: expected"):
        Target(type=kind, provider_ids=provider_ids)


async def test_every_change_is_an_event_that_names_who_did_it(domains: Domains) -> None:
    domains.providers.add(ACME, Provider("okta"))
    await domains.add(ACME, NAME)
    await domains.publish(ACME, NAME)
    await domains.verify(ACME, NAME)
    await domains.administration.change_target(ACME, NAME, at_provider("okta"), actor=ACTOR)
    await domains.administration.remove(ACME, NAME, actor=ACTOR)
    await domains.verified(ACME, "example.org")

    events = await domains.events(ACME)
    assert {(event.type, event.text) for event in events} == {
        (EventType.CREATED, "domain example.com"),
        (EventType.DOMAIN_VERIFIED, "example.com"),
        (EventType.CHANGED, "domain example.com"),
        (EventType.DELETED, "domain example.com"),
        (EventType.CREATED, "domain example.org"),
        (EventType.DOMAIN_VERIFIED, "example.org vouched"),
    }
    assert {ACTOR} == {event.actor for event in events}
