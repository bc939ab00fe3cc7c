import asyncio
from datetime import timedelta

import pytest

from identity.sign_in.addresses import Addresses
from identity.sign_in.config import DEFAULT_THRESHOLDS, LoginProtectionConfig, Threshold
from identity.sign_in.delays import Delays
from server.platform.errors import ResourceExhausted
from tests.identity.browsing import ADDRESS, NOON, Provider
from tests.waiting import until

ALICE = "alice@example.com"


async def fail(
    provider: Provider, *, times: int = 1, email: str = ALICE, password: str = "wrong", address: str = ADDRESS
) -> None:
    for _ in range(times):
        await provider.protection.failed(provider.tenant, address, email=email, password=password)


async def is_blocked(provider: Provider, address: str = ADDRESS) -> bool:
    try:
        await provider.protection.admit(provider.tenant, address)
    except ResourceExhausted:
        return True
    return False


async def test_the_first_failures_are_answered_at_once() -> None:
    provider = Provider()

    await fail(provider, times=2)

    assert provider.pauses.seconds == []


async def test_later_failures_are_answered_later_and_later() -> None:
    provider = Provider()

    await fail(provider, times=6)

    assert provider.pauses.seconds == [6, 8, 15, 18]


async def test_no_answer_is_held_back_longer_than_the_bound() -> None:
    provider = Provider()

    await fail(provider, times=30)

    assert max(provider.pauses.seconds) == 30


@pytest.mark.parametrize(("failures", "seconds"), [(7, 60), (10, 600), (20, 86_400 // 24), (25, 86_400)])
async def test_at_some_numbers_the_address_is_blocked(failures: int, seconds: int) -> None:
    provider = Provider()
    await fail(provider, times=failures)

    with pytest.raises(ResourceExhausted) as refusal:
        await provider.protection.admit(provider.tenant, ADDRESS)

    assert refusal.value.metadata == {"retry_at": str(int(NOON.timestamp()) + seconds)}


async def test_a_block_ends() -> None:
    provider = Provider()
    await fail(provider, times=7)

    provider.clock.advance(timedelta(seconds=60))

    assert not await is_blocked(provider)


async def test_other_addresses_are_not_blocked() -> None:
    provider = Provider()

    await fail(provider, times=7)

    assert not await is_blocked(provider, "192.0.2.8")


async def test_addresses_of_one_ipv6_network_count_as_one() -> None:
    provider = Provider()
    for number in range(7):
        await fail(provider, address=f"2001:db8::{number}")

    assert await is_blocked(provider, "2001:db8::ffff")
    assert not await is_blocked(provider, "2001:db8:0:1::1")


async def test_a_success_forgets_the_failures_of_its_own_account_only() -> None:
    provider = Provider()
    await fail(provider, times=3, email=ALICE)
    await fail(provider, times=3, email="bob@example.com")

    await provider.protection.succeeded(provider.tenant, ADDRESS, email="Bob@Example.com")
    provider.pauses.seconds.clear()
    await fail(provider)

    assert provider.pauses.seconds == [8]


async def test_many_different_credentials_block_for_long() -> None:
    provider = Provider(protection=LoginProtectionConfig(thresholds=(Threshold(failures=1),)))
    for number in range(14):
        await fail(provider, email=f"user-{number}@example.com")
    await fail(provider, times=5, email="user-1@example.com")
    assert not await is_blocked(provider)

    await fail(provider, email="user-15@example.com")

    provider.clock.advance(timedelta(seconds=86_399))
    assert await is_blocked(provider)


async def test_credentials_of_long_ago_are_no_list() -> None:
    provider = Provider(protection=LoginProtectionConfig(thresholds=(Threshold(failures=1),)))
    for number in range(14):
        await fail(provider, email=f"user-{number}@example.com")
    provider.clock.advance(timedelta(seconds=10_800))

    await fail(provider, email="user-15@example.com")

    assert not await is_blocked(provider)


async def test_failures_are_forgotten_after_a_day() -> None:
    provider = Provider()
    await fail(provider, times=6)
    provider.clock.advance(timedelta(days=1))

    await fail(provider)

    assert not await is_blocked(provider)


async def test_an_allowed_network_is_never_held_back() -> None:
    provider = Provider(protection=LoginProtectionConfig(allowed_networks=("192.0.2.0/24",)))

    await fail(provider, times=30)

    assert not await is_blocked(provider)
    assert provider.pauses.seconds == []


async def test_failures_at_the_same_time_all_count() -> None:
    provider = Provider()

    await asyncio.gather(*(fail(provider) for _ in range(7)))

    assert await is_blocked(provider)


async def test_no_more_answers_are_held_back_than_the_bound() -> None:
    release = asyncio.Event()

    async def pause(_seconds: float) -> None:
        await release.wait()

    delays = Delays(2, pause)
    async with asyncio.TaskGroup() as held:
        tasks = [held.create_task(delays.hold(1)) for _ in range(2)]
        await until(lambda: delays.held == 2)

        with pytest.raises(ResourceExhausted):
            await delays.hold(1)

        release.set()

    assert all(task.done() for task in tasks)


@pytest.mark.parametrize(
    ("peer_address", "group"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("unix", "unix"),
        ("", ""),
    ],
)
def test_what_counts_as_one_address(peer_address: str, group: str) -> None:
    assert Addresses(LoginProtectionConfig()).group(peer_address) == group


@pytest.mark.parametrize(
    "fields",
    [
        {"max_delay_secs": 31},
        {"max_delayed": 0},
        {"ipv6_prefix": 0},
        {"allowed_networks": ("everybody",)},
        {"thresholds": DEFAULT_THRESHOLDS[::-1]},
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r".+"):
        LoginProtectionConfig(**fields)  # type: ignore[arg-type]
