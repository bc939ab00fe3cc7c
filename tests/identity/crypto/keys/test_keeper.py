"""The maintenance loop of signing keys, which one process runs."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest

from identity.authentication.federation.secrets import ProviderSecrets
from identity.crypto.keys.key_maintenance import (
    MOST_OF_A_PERIOD,
    PASS_SECONDS,
    PURPOSE,
    KeyMaintenance,
    SealedStore,
)
from identity.crypto.keys.master_keys import MasterKeys, new_master_key
from identity.crypto.keys.root_secret import RootSecrets
from identity.crypto.keys.schedule import Schedule
from identity.crypto.keys.stored import KEY_SETS
from identity.foundation.events.kinds import EventType
from identity.foundation.leadership import LEADERS, TERM, Leadership
from identity.foundation.tenants import Tenants
from server.platform.call import TenantId
from server.platform.clock import VirtualClock
from tests.identity.crypto.keys.rings import ACME, NOON, RANDOMNESS, UMBRELLA, Deployment, master_keys
from tests.virtual_time import in_virtual_time
from tests.waits import until_so

TENANTS = Tenants("https://id.example.com", ACME, (UMBRELLA,))


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(pinned=NOON)


@pytest.fixture
def deployment(clock: VirtualClock) -> Deployment:
    return Deployment(clock)


def leadership(deployment: Deployment) -> Leadership:
    return Leadership(PURPOSE, deployment.store, deployment.clock, randomness=RANDOMNESS)


def keeper(
    deployment: Deployment,
    keys: MasterKeys | None = None,
    others: Sequence[SealedStore] | None = None,
    tenants: Tenants = TENANTS,
) -> KeyMaintenance:
    keys = keys or master_keys()
    return KeyMaintenance(
        deployment.process(keys),
        RootSecrets(deployment.store, keys, RANDOMNESS),
        others=(ProviderSecrets(deployment.store, keys),) if others is None else others,
        master_keys=keys,
        tenants=tenants,
        schedule=Schedule("0 30 3 1 * * *"),
        leadership=leadership(deployment),
        clock=deployment.clock,
    )


async def test_a_pass_makes_every_tenants_keys_complete(deployment: Deployment) -> None:
    await keeper(deployment).keep()

    for tenant_id in (ACME, UMBRELLA):
        stored = await deployment.stored(tenant_id)
        assert (stored.lacking_active, len(stored.keys)) == ([], 5)


async def test_next_keys_are_announced_after_a_minute(deployment: Deployment, clock: VirtualClock) -> None:
    maintenance = keeper(deployment)
    await maintenance.keep()

    clock.advance(timedelta(minutes=1))
    await maintenance.keep()

    assert (await deployment.stored()).lacking_next == []


async def test_of_two_processes_one_does_it(deployment: Deployment) -> None:
    first, second = keeper(deployment), keeper(deployment)

    await asyncio.gather(first.keep(), second.keep())

    assert len(deployment.making.made) == 2 * 5


async def test_a_run_that_was_due_while_none_ran_is_made_up_by_the_first_pass(
    deployment: Deployment, clock: VirtualClock
) -> None:
    await keeper(deployment).keep()
    clock.advance(timedelta(days=100))

    restarted = keeper(deployment)
    await restarted.keep()
    await restarted.keep()

    for tenant_id in (ACME, UMBRELLA):
        assert [event.type for event in await deployment.events(tenant_id)] == [EventType.JWKS_ROTATED]


async def test_the_root_secret_comes_last_under_another_master_key(deployment: Deployment) -> None:
    old, new = new_master_key(RANDOMNESS), new_master_key(RANDOMNESS)
    before = await RootSecrets(deployment.store, master_keys(old), RANDOMNESS).open()
    await deployment.process(master_keys(old)).key_set(UMBRELLA)

    await keeper(deployment, master_keys(old, new)).keep()

    after = await RootSecrets(deployment.store, master_keys(new), RANDOMNESS).open()
    assert before.derived("x") == after.derived("x")
    assert len((await deployment.process(master_keys(new)).key_set(UMBRELLA)).keys) == 5


class Resealed:
    """Keeps the tenants whose secrets it was asked to encrypt anew."""

    def __init__(self) -> None:
        self.tenants: list[TenantId] = []

    async def reseal(self, tenant_id: TenantId) -> None:
        self.tenants.append(tenant_id)


async def test_with_one_master_key_only_the_first_pass_reads_all_secrets(deployment: Deployment) -> None:
    secrets = Resealed()
    maintenance = keeper(deployment, others=(secrets,))

    for _ in range(3):
        await maintenance.keep()

    assert sorted(secrets.tenants) == sorted([ACME, UMBRELLA])


async def test_while_there_is_another_master_key_every_pass_reads_all_secrets(deployment: Deployment) -> None:
    """Processes that have not restarted yet encrypt under it."""
    secrets = Resealed()
    maintenance = keeper(
        deployment, master_keys(new_master_key(RANDOMNESS), new_master_key(RANDOMNESS)), others=(secrets,)
    )

    for _ in range(3):
        await maintenance.keep()

    assert len(secrets.tenants) == 3 * 2


def test_a_period_has_a_limited_number_of_tenants() -> None:
    async def story() -> tuple[int, float]:
        deployment, secrets = Deployment(VirtualClock(pinned=NOON)), Resealed()
        others = [TenantId(f"tenant-{number}") for number in range(2 * MOST_OF_A_PERIOD)]
        maintenance = keeper(
            deployment, others=(secrets,), tenants=Tenants("https://id.example.com", ACME, others)
        )
        begun = asyncio.get_running_loop().time()
        await maintenance.keep()
        return len(secrets.tenants), asyncio.get_running_loop().time() - begun

    assert in_virtual_time(story()) == (2 * MOST_OF_A_PERIOD + 1, 2 * PASS_SECONDS)


async def test_a_process_that_ends_makes_room(deployment: Deployment) -> None:
    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(keeper(deployment).run())
        await until_so(lambda: deployment.store.of(KEY_SETS).page(UMBRELLA))
        running.cancel()

    assert await leadership(deployment).is_ours()


async def test_a_leader_that_is_gone_is_followed_after_its_term(
    deployment: Deployment, clock: VirtualClock
) -> None:
    first, second = leadership(deployment), leadership(deployment)
    assert await first.is_ours()
    assert not await second.is_ours()

    clock.advance(TERM)

    assert await second.is_ours()
    assert not await first.is_ours()


async def test_a_leader_that_goes_on_stays(deployment: Deployment, clock: VirtualClock) -> None:
    first, second = leadership(deployment), leadership(deployment)
    for _ in range(10):
        assert await first.is_ours()
        assert not await second.is_ours()
        clock.advance(TERM * 0.4)

    assert len(await deployment.store.of(LEADERS).page(TenantId(""))) == 1


async def test_whoever_does_not_lead_has_nothing_to_resign(deployment: Deployment) -> None:
    first, second = leadership(deployment), leadership(deployment)
    assert await first.is_ours()
    assert not await second.is_ours()

    await second.resign()

    assert await first.is_ours()
    assert not await second.is_ours()
