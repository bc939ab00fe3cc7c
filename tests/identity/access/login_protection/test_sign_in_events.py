from datetime import timedelta

import pytest

from identity.access.login_protection.addresses import Addresses
from identity.access.login_protection.blacklist import Blacklist, BlockedAddress
from identity.access.login_protection.config import LoginProtectionConfig
from identity.access.login_protection.failures import ADDRESS_FAILURES, BlockScope
from identity.access.login_protection.protection import level_of_failures
from identity.access.networks.config import NetworksConfig
from identity.access.networks.networks import Networks
from identity.access.networks.rules import NetworkRules
from identity.foundation.events.event import EVENTS, Event, EventActor
from identity.foundation.events.kinds import EventType, Level
from server.platform.errors import InvalidArgument, ResourceExhausted
from tests.identity.access.login_protection.test_login_protection import fail, is_blocked, spray
from tests.identity.browsers import ADDRESS, NOON, Provider

ADMINISTRATOR = EventActor("user", "root", "root@example.com")


def blacklist(provider: Provider, config: LoginProtectionConfig | None = None) -> Blacklist:
    addresses, networks = Addresses(config or LoginProtectionConfig()), NetworksConfig()
    return Blacklist(
        provider.store.of(ADDRESS_FAILURES),
        addresses,
        rules=NetworkRules(
            networks, Networks(networks), addresses, events=provider.events, clock=provider.clock
        ),
        events=provider.events,
        clock=provider.clock,
    )


async def events(provider: Provider, event_type: EventType) -> list[Event]:
    """Return the events of a type, in the order of their numbers."""
    kept = await provider.store.of(EVENTS).page(provider.tenant.tenant_id)
    return sorted((event for event in kept if event.type is event_type), key=lambda event: event.data or 0)


async def test_every_failure_is_told_of_with_its_number() -> None:
    provider = Provider()

    await fail(provider, times=3)

    told = await events(provider, EventType.INVALID_LOGINS)
    assert [(event.ip, event.data, event.level) for event in told] == [
        (ADDRESS, number, Level.INFO) for number in (1, 2, 3)
    ]
    assert "alice" not in repr(told)


@pytest.mark.parametrize(
    ("failures", "level"),
    [
        (6, Level.INFO),
        (7, Level.NOTICE),
        (9, Level.NOTICE),
        (10, Level.WARNING),
        (11, Level.NOTICE),
        (15, Level.WARNING),
        (20, Level.CRITICAL),
        (24, Level.WARNING),
        (25, Level.CRITICAL),
        (100, Level.CRITICAL),
    ],
)
def test_the_more_failures_the_more_attention(failures: int, level: Level) -> None:
    assert level_of_failures(failures) is level


async def test_a_failure_is_told_of_where_nobody_is_held_back_too() -> None:
    provider = Provider(protection=LoginProtectionConfig(allowed_networks=("192.0.2.0/24",)))

    await fail(provider)

    (told,) = await events(provider, EventType.INVALID_LOGINS)
    assert (told.ip, told.data, told.level) == (ADDRESS, None, Level.INFO)


async def test_a_block_is_told_of_with_its_end() -> None:
    provider = Provider()

    await fail(provider, times=7)

    (told,) = await events(provider, EventType.IP_BLACKLISTED)
    assert (told.ip, told.data, told.actor) == (ADDRESS, int(NOON.timestamp()) + 60, None)


async def test_each_block_is_told_of_with_its_own_end() -> None:
    provider = Provider()
    await fail(provider, times=10)

    await fail(provider, times=7, email="bob@example.com")

    ends = [event.data for event in await events(provider, EventType.IP_BLACKLISTED)]
    assert ends == [int(NOON.timestamp()) + seconds for seconds in (60, 60, 600)]


async def test_a_list_that_is_tried_out_is_told_of() -> None:
    provider = Provider()

    await spray(provider, accounts=100)

    (told,) = await events(provider, EventType.CREDENTIAL_STUFFING)
    assert (told.ip, told.level, told.data) == (ADDRESS, Level.WARNING, int(NOON.timestamp()) + 86_400)


async def test_an_account_that_is_guessed_from_many_addresses_is_told_of_once() -> None:
    provider = Provider()

    for number in range(20):
        await fail(provider, address=f"198.51.100.{number}")

    (told,) = await events(provider, EventType.POSSIBLE_BRUTE_FORCE)
    assert (told.ip, told.data, told.level) == ("198.51.100.9", 10, Level.CRITICAL)


async def test_the_number_that_is_told_is_of_all_accounts_of_the_address() -> None:
    provider = Provider()

    await spray(provider, accounts=25)

    told = await events(provider, EventType.INVALID_LOGINS)
    assert (told[-1].data, told[-1].level) == (25, Level.CRITICAL)


async def test_an_administrator_blocks_and_unblocks() -> None:
    provider = Provider()
    until = NOON + timedelta(days=2)
    await fail(provider, times=6)
    await blacklist(provider).block(provider.tenant, ADDRESS, until=until, actor=ADMINISTRATOR)
    provider.clock.advance(timedelta(days=1))
    was_blocked = await is_blocked(provider)

    await blacklist(provider).unblock(provider.tenant, ADDRESS, actor=ADMINISTRATOR)
    await fail(provider)

    assert was_blocked
    assert not await is_blocked(provider)
    (told,) = await events(provider, EventType.IP_BLACKLIST_REMOVED)
    assert told.actor == ADMINISTRATOR


async def test_an_administrator_shortens_a_block() -> None:
    provider = Provider()
    await fail(provider, times=10)

    until = NOON + timedelta(seconds=5)
    await blacklist(provider).block(provider.tenant, ADDRESS, until=until, actor=ADMINISTRATOR)

    with pytest.raises(ResourceExhausted) as refusal:
        await blacklist(provider).admit(provider.tenant, ADDRESS)
    assert refusal.value.metadata == {"retry_at": str(int(until.timestamp()))}


async def test_only_addresses_that_are_blocked_now_are_listed() -> None:
    provider = Provider()
    await fail(provider, times=7)
    await fail(provider, times=3, address="192.0.2.8")
    listed = await blacklist(provider).blocked(provider.tenant)

    provider.clock.advance(timedelta(seconds=60))

    assert listed == [
        BlockedAddress(address=ADDRESS, until=NOON + timedelta(seconds=60), reach=BlockScope.ACCOUNTS)
    ]
    assert await blacklist(provider).blocked(provider.tenant) == []


async def test_the_widest_block_of_an_address_is_listed() -> None:
    provider = Provider()
    await fail(provider, times=25)
    await spray(provider, accounts=99)
    by_protection = await blacklist(provider).blocked(provider.tenant)

    until = NOON + timedelta(seconds=5)
    await blacklist(provider).block(provider.tenant, ADDRESS, until=until, actor=ADMINISTRATOR)

    by_administrator = await blacklist(provider).blocked(provider.tenant)
    assert [each.reach for each in (*by_protection, *by_administrator)] == [
        BlockScope.SIGN_IN,
        BlockScope.EVERYTHING,
    ]
    assert [each.until for each in by_administrator] == [until]


@pytest.mark.parametrize("accounts", [1, 100], ids=["an account", "all sign-ins"])
async def test_an_administrator_lifts_what_guesses_caused(accounts: int) -> None:
    provider = Provider()
    await fail(provider, times=7)
    await spray(provider, accounts=accounts)
    was_blocked = await is_blocked(provider)

    await blacklist(provider).unblock(provider.tenant, ADDRESS, actor=ADMINISTRATOR)

    assert was_blocked
    assert not await is_blocked(provider)
    assert await blacklist(provider).blocked(provider.tenant) == []


async def test_guesses_keep_nobody_from_anything_else() -> None:
    provider = Provider()
    await fail(provider, times=25)

    await spray(provider, accounts=100)

    await blacklist(provider).admit(provider.tenant, ADDRESS)


async def test_a_network_that_is_never_blocked_is_not_blocked_by_administrators() -> None:
    provider = Provider()
    config = LoginProtectionConfig(allowed_networks=("192.0.2.0/24",))

    with pytest.raises(InvalidArgument):
        await blacklist(provider, config).block(
            provider.tenant, ADDRESS, until=NOON + timedelta(hours=1), actor=ADMINISTRATOR
        )
