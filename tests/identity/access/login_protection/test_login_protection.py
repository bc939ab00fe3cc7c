import asyncio
from datetime import timedelta

import msgspec
import pytest

from identity.access.login_protection.account_failures import ACCOUNT_FAILURES
from identity.access.login_protection.addresses import Addresses
from identity.access.login_protection.config import (
    DEFAULT_THRESHOLDS,
    CredentialStuffing,
    LoginProtectionConfig,
    Threshold,
)
from identity.access.login_protection.delays import Delays
from identity.access.login_protection.failures import ADDRESS_FAILURES, AddressFailures
from server.platform.errors import ResourceExhausted, Unavailable
from tests.identity.browsers import ACME, ADDRESS, NOON, Provider
from tests.waits import until

ALICE, BOB = "alice@example.com", "bob@example.com"
ELSEWHERE = "192.0.2.8"
UNTHROTTLED = LoginProtectionConfig(thresholds=(Threshold(failures=1),))


async def fail(
    provider: Provider, *, times: int = 1, email: str = ALICE, password: str = "wrong", address: str = ADDRESS
) -> None:
    for _ in range(times):
        await provider.protection.failed(provider.tenant, address, account=email, secret=password)


async def spray(provider: Provider, *, accounts: int, address: str = ADDRESS) -> None:
    """Try one wrong password for each of many accounts."""
    for number in range(accounts):
        await fail(provider, email=f"user-{number}@example.com", address=address)


async def is_blocked(provider: Provider, address: str = ADDRESS, *, email: str = ALICE) -> bool:
    try:
        await provider.protection.admit(provider.tenant, address, account=email)
    except ResourceExhausted:
        return True
    return False


async def kept(provider: Provider) -> AddressFailures:
    found = await provider.store.of(ADDRESS_FAILURES).get(provider.tenant.tenant_id, ADDRESS)
    assert found is not None
    return found


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
async def test_at_some_numbers_of_failures_the_account_is_blocked_for_the_address(
    failures: int, seconds: int
) -> None:
    provider = Provider()
    await fail(provider, times=failures)

    with pytest.raises(ResourceExhausted) as refusal:
        await provider.protection.admit(provider.tenant, ADDRESS, account=ALICE)

    assert refusal.value.metadata == {"retry_at": str(int(NOON.timestamp()) + seconds)}


async def test_a_block_ends() -> None:
    provider = Provider()
    await fail(provider, times=7)

    provider.clock.advance(timedelta(seconds=60))

    assert not await is_blocked(provider)


async def test_guessing_locks_the_owner_out_from_no_other_address() -> None:
    provider = Provider()

    await fail(provider, times=30)

    assert not await is_blocked(provider, ELSEWHERE)


async def test_guessing_one_account_blocks_no_other_account_of_the_address() -> None:
    provider = Provider()

    await fail(provider, times=30)

    assert not await is_blocked(provider, email=BOB)


async def test_failures_of_one_account_delay_no_other_account_of_the_address() -> None:
    provider = Provider()
    await fail(provider, times=6)
    provider.pauses.seconds.clear()

    await fail(provider, times=2, email=BOB)

    assert provider.pauses.seconds == []


async def test_a_block_is_of_one_tenant() -> None:
    provider = Provider()

    await fail(provider, times=7)

    await provider.protection.admit(provider.tenants.find(ACME), ADDRESS, account=ALICE)


async def test_addresses_of_one_ipv6_network_count_as_one() -> None:
    provider = Provider()
    for number in range(7):
        await fail(provider, address=f"2001:db8::{number}")

    assert await is_blocked(provider, "2001:db8::ffff")
    assert not await is_blocked(provider, "2001:db8:0:1::1")


async def test_a_success_forgets_the_failures_of_its_own_account_only() -> None:
    provider = Provider()
    await fail(provider, times=3, email=ALICE)
    await fail(provider, times=3, email=BOB)

    await provider.protection.succeeded(provider.tenant, ADDRESS, account="Bob@Example.com")
    provider.pauses.seconds.clear()
    await fail(provider)

    assert provider.pauses.seconds == [8]


async def test_a_success_by_another_proof_lifts_the_block_of_its_own_account_only() -> None:
    provider = Provider()
    await fail(provider, times=7)
    await fail(provider, times=7, email=BOB)

    await provider.protection.succeeded(provider.tenant, ADDRESS, account=ALICE)

    assert not await is_blocked(provider)
    assert await is_blocked(provider, email=BOB)


async def test_many_different_credentials_block_all_sign_ins_of_the_address_for_long() -> None:
    provider = Provider(protection=UNTHROTTLED)
    await spray(provider, accounts=99)
    await fail(provider, times=5, email="user-1@example.com")
    assert not await is_blocked(provider)

    await fail(provider, email="user-99@example.com")

    provider.clock.advance(timedelta(seconds=86_399))
    assert await is_blocked(provider)
    assert not await is_blocked(provider, ELSEWHERE)


async def test_the_block_for_a_list_ends_and_old_failures_do_not_renew_it() -> None:
    provider = Provider(protection=UNTHROTTLED)
    await spray(provider, accounts=100)
    provider.clock.advance(timedelta(seconds=86_400))
    ended = not await is_blocked(provider)

    await fail(provider)

    assert ended
    assert not await is_blocked(provider)


async def test_a_list_blocks_no_proof_that_cannot_be_guessed() -> None:
    provider = Provider(protection=UNTHROTTLED)
    await spray(provider, accounts=100)

    await provider.protection.admit(provider.tenant, ADDRESS, account=ALICE, may_be_listed=False)

    assert await is_blocked(provider)


async def test_the_account_is_blocked_for_its_own_bad_passkeys() -> None:
    provider = Provider()
    await fail(provider, times=7)

    with pytest.raises(ResourceExhausted):
        await provider.protection.admit(provider.tenant, ADDRESS, account=ALICE, may_be_listed=False)


async def test_repeated_credentials_do_not_hide_a_list() -> None:
    stuffing = CredentialStuffing(threshold=100)
    provider = Provider(
        protection=LoginProtectionConfig(thresholds=(Threshold(failures=1),), credential_stuffing=stuffing)
    )
    for number in range(100):
        await fail(provider, times=2, email=f"user-{number}@example.com")

    assert await is_blocked(provider)


async def test_credentials_of_long_ago_are_no_list() -> None:
    provider = Provider(protection=UNTHROTTLED)
    await spray(provider, accounts=99)
    provider.clock.advance(timedelta(seconds=10_800))

    await fail(provider, email="user-99@example.com")

    assert not await is_blocked(provider)


async def test_an_office_of_people_who_mistype_is_not_held_back() -> None:
    provider = Provider()
    for number in range(300):
        employee = f"employee-{number}@example.com"
        for password in ("mistyped", "mistyped again"):
            await fail(provider, email=employee, password=password)
        await provider.protection.succeeded(provider.tenant, ADDRESS, account=employee)

    await fail(provider)

    assert not await is_blocked(provider)
    assert provider.pauses.seconds == []


async def test_an_account_that_is_guessed_from_many_addresses_is_answered_later_and_never_blocked() -> None:
    provider = Provider()
    for number in range(9):
        await fail(provider, address=f"198.51.100.{number}")
    before = list(provider.pauses.seconds)

    await fail(provider, times=2, address="198.51.100.9")

    assert (before, provider.pauses.seconds) == ([], [30, 30])
    assert not await is_blocked(provider)


async def test_an_unknown_account_is_held_back_like_a_known_one() -> None:
    provider = Provider(protection=LoginProtectionConfig(account_addresses=2))

    async def delays(email: str) -> list[float]:
        provider.pauses.seconds.clear()
        for address in (ADDRESS, ELSEWHERE):
            await fail(provider, times=6, email=email, address=address)
        return list(provider.pauses.seconds)

    assert await delays(ALICE) == await delays("nobody@example.com") == [6, 8, 15, 18, *[30] * 6]


async def test_a_success_takes_its_address_from_those_that_guess_the_account() -> None:
    provider = Provider(protection=LoginProtectionConfig(account_addresses=2))
    await fail(provider)
    await provider.protection.succeeded(provider.tenant, ADDRESS, account=ALICE)

    await fail(provider, address=ELSEWHERE)

    assert provider.pauses.seconds == []


async def test_what_is_kept_of_guesses_does_not_grow_with_their_number() -> None:
    provider = Provider(protection=UNTHROTTLED)
    for number in range(300):
        await fail(provider, password=f"wrong-{number}", email=f"user-{number}@example.com")
        await fail(provider, address=f"198.51.{number % 3}.{number % 100}")

    at_account = await provider.store.of(ACCOUNT_FAILURES).page(provider.tenant.tenant_id, most=1000)

    assert len((await kept(provider)).failures) == 100
    assert max(len(each.addresses) for each in at_account) == 10


async def test_a_sign_in_that_names_nobody_blocks_nobody_else() -> None:
    provider = Provider()

    await fail(provider, times=30, email="")

    assert provider.pauses.seconds == []
    assert not await is_blocked(provider, email="")


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


async def test_failures_are_forgotten_one_by_one() -> None:
    provider = Provider()
    await fail(provider, times=6)
    provider.clock.advance(timedelta(hours=12))
    await fail(provider, email=BOB)
    provider.clock.advance(timedelta(hours=12))

    await fail(provider)

    assert not await is_blocked(provider)


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


def test_a_record_of_an_older_version_is_read() -> None:
    failure = {"account": "a", "credentials": "c", "at": "2030-01-01T12:00:00Z"}
    older = {
        "tenant_id": "default",
        "id": ADDRESS,
        "failures": [failure, failure],
        "blocked_until": "2030-01-01T12:01:00Z",
        "block": "block",
    }

    read = msgspec.convert(older, AddressFailures)

    assert (read.failures_of("a"), read.credentials_since(NOON - timedelta(hours=1))) == (2, 1)
    with pytest.raises(ResourceExhausted):
        read.expect_answered(NOON)


async def test_no_answer_is_held_back_while_the_provider_stops() -> None:
    delays = Delays(2)
    held = asyncio.ensure_future(delays.hold(3600))
    await until(lambda: delays.held)
    delays.drain()
    with pytest.raises(Unavailable):
        await held
    with pytest.raises(Unavailable):
        await delays.hold(3600)
    assert delays.held == 0


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
        {"account_addresses": 1},
        {"allowed_networks": ("everybody",)},
        {"thresholds": DEFAULT_THRESHOLDS[::-1]},
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r".+"):
        LoginProtectionConfig(**fields)  # type: ignore[arg-type]
