"""The life cycle of signing keys, and agreement between the processes that share them."""

import asyncio
import gc
from collections import Counter
from datetime import timedelta

import pytest

from identity.access.callers import Actor, ActorKind
from identity.crypto.jose.algorithms import ALGORITHMS, SigningAlgorithm
from identity.crypto.keys.key_ring import KeyRing
from identity.crypto.keys.master_keys import LostMasterKey, new_master_key
from identity.crypto.keys.schedule import Schedule
from identity.crypto.keys.stored import KEY_SETS, SIGNING_KEYS_ID
from identity.foundation.events.event import EventActor
from identity.foundation.events.kinds import EventType, Level
from server.platform.call import TenantId
from server.platform.clock import VirtualClock
from server.platform.errors import InvalidState, Unavailable
from tests.identity.crypto.keys.rings import ACME, NOON, RANDOMNESS, UMBRELLA, Deployment, master_keys

MONTHLY = Schedule("0 30 3 1 * * *")
ORDER = ["RS256", "ES256", "EdDSA", "RS384", "RS512"]


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(pinned=NOON)


@pytest.fixture
def deployment(clock: VirtualClock) -> Deployment:
    return Deployment(clock)


@pytest.fixture
async def keys(deployment: Deployment) -> KeyRing:
    ring = deployment.process()
    await ring.complete(ACME)
    return ring


async def kids(keys: KeyRing) -> list[str]:
    return [key.kid for key in (await keys.key_set(ACME)).keys]


async def test_a_tenant_has_keys_before_the_slow_ones_are_made(deployment: Deployment) -> None:
    keys = deployment.process()

    found = await keys.key_set(ACME)

    assert [key.algorithm for key in found.keys] == ORDER[:3]
    with pytest.raises(Unavailable, match="is being made"):
        found.signing_key(SigningAlgorithm.RS512)


async def test_there_is_one_key_for_each_algorithm_in_the_published_order(keys: KeyRing) -> None:
    found = await keys.key_set(ACME)

    assert [key.algorithm for key in found.keys] == ORDER
    assert all(len(key.kid) == 24 and key.kid.isalnum() for key in found.keys)
    for kind in ALGORITHMS:
        assert found.signing_key(kind.algorithm).kid == found.keys[ORDER.index(kind.algorithm)].kid


async def test_tenants_have_keys_of_their_own(keys: KeyRing) -> None:
    before = await kids(keys)

    other = {key.kid for key in (await keys.key_set(UMBRELLA)).keys}
    await keys.rotate(UMBRELLA)

    assert before == await kids(keys)
    assert not other & set(before)


async def test_keys_outlive_their_process_and_are_shared(deployment: Deployment, keys: KeyRing) -> None:
    signing_key = (await keys.key_set(ACME)).signing_key(SigningAlgorithm.ES256)
    token = signing_key.sign(b"{}")

    other = await deployment.process().key_set(ACME)

    key = other.find(signing_key.kid)
    assert key is not None
    assert key.payload(token) == b"{}"
    assert await kids(keys) == [key.kid for key in other.keys]


async def test_processes_that_start_at_once_have_the_same_keys(deployment: Deployment) -> None:
    processes = [deployment.process() for _ in range(8)]

    await asyncio.gather(*(process.complete(ACME) for process in processes))

    assert len({tuple(await kids(process)) for process in processes}) == 1


async def test_no_lock_of_a_tenant_outlives_its_use(deployment: Deployment) -> None:
    keys = deployment.process()
    before = _locks()

    for number in range(20):
        await keys.complete(TenantId(f"tenant-{number}"))

    assert _locks() == before


def _locks() -> int:
    return sum(isinstance(each, asyncio.Lock) for each in gc.get_objects())


async def test_keys_of_a_deleted_tenant_leave_the_cache(deployment: Deployment, keys: KeyRing) -> None:
    before = await kids(keys)
    await deployment.store.of(KEY_SETS).take(ACME, SIGNING_KEYS_ID)
    cached = await kids(keys)

    keys.forget_others([UMBRELLA])

    assert cached == before
    assert not set(before) & set(await kids(keys))


async def test_the_next_keys_are_announced_behind_those_that_sign(keys: KeyRing) -> None:
    before = await kids(keys)

    await keys.announce(ACME)
    await keys.announce(ACME)

    found = await keys.key_set(ACME)
    assert [key.algorithm for key in found.keys] == ORDER * 2
    assert [key.kid for key in found.keys][:5] == before
    assert before == [found.signing_key(kind.algorithm).kid for kind in ALGORITHMS]


async def test_at_a_rotation_the_announced_keys_sign_and_the_others_stay(
    keys: KeyRing, clock: VirtualClock
) -> None:
    first = await kids(keys)
    await keys.announce(ACME)
    second = (await kids(keys))[5:]
    clock.advance(timedelta(days=1))
    await keys.rotate(ACME)
    clock.advance(timedelta(days=1))

    await keys.rotate(ACME)

    found = await keys.key_set(ACME)
    assert [key.algorithm for key in found.keys] == ORDER * 3
    assert [key.kid for key in found.keys][5:] == second + first
    assert [found.signing_key(kind.algorithm).kid for kind in ALGORITHMS] == [
        key.kid for key in found.keys[:5]
    ]


async def test_a_token_verifies_after_rotations(keys: KeyRing, clock: VirtualClock) -> None:
    tokens = {
        key.kid: (await keys.key_set(ACME)).signing_key(key.algorithm).sign(b"{}")
        for key in (await keys.key_set(ACME)).keys
    }

    for _ in range(3):
        clock.advance(timedelta(days=30))
        await keys.rotate(ACME)

    found = await keys.key_set(ACME)
    for kid, token in tokens.items():
        key = found.find(kid)
        assert key is not None
        assert key.payload(token) == b"{}"


async def test_a_retired_key_has_no_private_half_any_more(deployment: Deployment, keys: KeyRing) -> None:
    before = set(await kids(keys))

    await keys.rotate(ACME)

    stored = {key.kid: key for key in (await deployment.stored()).keys}
    assert {kid for kid, key in stored.items() if key.sealed is None} == before


async def test_retired_keys_end_after_ninety_days_and_newest_ones_never(
    keys: KeyRing, clock: VirtualClock
) -> None:
    await keys.rotate(ACME)
    signing = (await kids(keys))[:5]
    clock.advance(timedelta(days=90) - timedelta(seconds=1))
    await keys.drop_ended(ACME)
    assert len(await kids(keys)) == 10

    clock.advance(timedelta(seconds=4))
    await keys.drop_ended(ACME)

    assert signing == await kids(keys)
    clock.advance(timedelta(days=1000))
    await keys.drop_ended(ACME)
    assert signing == await kids(keys)


async def test_a_key_stays_for_as_long_as_its_last_token(deployment: Deployment, clock: VirtualClock) -> None:
    keys = deployment.process(longest_token=timedelta(days=365))
    await keys.rotate(ACME)

    clock.advance(timedelta(days=364))
    await keys.drop_ended(ACME)

    assert len(await kids(keys)) > 5


async def test_another_process_sees_a_rotation_in_two_seconds(
    deployment: Deployment, keys: KeyRing, clock: VirtualClock
) -> None:
    other = deployment.process()
    before = await kids(other)
    await keys.rotate(ACME)
    assert before == await kids(other)

    clock.advance(timedelta(seconds=2))

    assert await kids(keys) == await kids(other)


async def test_rotations_at_once_follow_each_other(deployment: Deployment, keys: KeyRing) -> None:
    other = deployment.process()

    await asyncio.gather(keys.rotate(ACME), other.rotate(ACME), keys.rotate(ACME))

    stored = await deployment.stored()
    assert Counter(key.algorithm for key in stored.keys if key.is_active) == Counter(ORDER)
    assert len(stored.keys) == 20
    assert [event.type for event in await deployment.events()] == [EventType.JWKS_ROTATED] * 3


async def test_a_run_that_was_missed_is_made_up_once_by_one_process(
    deployment: Deployment, keys: KeyRing, clock: VirtualClock
) -> None:
    processes = [deployment.process() for _ in range(5)]
    await keys.announce(ACME)
    for process in processes:
        await process.rotate_if_due(ACME, MONTHLY)
    assert await deployment.events() == []

    clock.advance(timedelta(days=100))
    await asyncio.gather(*(process.rotate_if_due(ACME, MONTHLY) for process in processes))

    assert [event.type for event in await deployment.events()] == [EventType.JWKS_ROTATED]
    assert (await deployment.stored()).rotated_at == clock.now()


async def test_the_event_says_when_and_how_grave(
    deployment: Deployment, keys: KeyRing, clock: VirtualClock
) -> None:
    await keys.rotate(ACME)

    (event,) = await deployment.events()
    assert (event.type, event.level, event.at) == (EventType.JWKS_ROTATED, Level.NOTICE, clock.now())
    assert len(event.event_id) == 8
    assert (event.ip, event.data, event.text) == (None, None, None)


async def test_the_event_names_the_administrator_who_asked(deployment: Deployment, keys: KeyRing) -> None:
    root = Actor(ActorKind.USER, "root", "root@example.com", peer_address="192.0.2.1")

    await keys.rotate(ACME, actor=root)

    (event,) = await deployment.events()
    assert (event.actor, event.ip) == (EventActor("user", "root", "root@example.com"), "192.0.2.1")


async def test_keys_are_published_in_bounded_number(deployment: Deployment) -> None:
    keys = deployment.process(most_keys=10)
    await keys.complete(ACME)
    await keys.rotate(ACME)

    with pytest.raises(InvalidState, match="publishes 10 keys"):
        await keys.rotate(ACME)

    assert len(await kids(keys)) == 10


async def test_private_keys_are_encrypted_anew_under_another_master_key(deployment: Deployment) -> None:
    old, new = new_master_key(RANDOMNESS), new_master_key(RANDOMNESS)
    before = await deployment.process(master_keys(old)).key_set(ACME)
    keys = deployment.process(master_keys(old, new))

    await keys.reseal(ACME)
    await keys.reseal(ACME)

    assert before.keys == (await deployment.process(master_keys(new)).key_set(ACME)).keys
    assert [event.type for event in await deployment.events()] == [EventType.SECRETS_MIGRATED]


@pytest.mark.usefixtures("keys")
async def test_without_the_master_key_no_keys_are_made_in_the_place_of_those_that_are_lost(
    deployment: Deployment,
) -> None:
    before = await deployment.stored()

    with pytest.raises(LostMasterKey):
        await deployment.process(master_keys(new_master_key(RANDOMNESS))).key_set(ACME)

    assert before == await deployment.stored()
