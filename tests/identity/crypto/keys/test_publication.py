"""Publication of complete key sets, with many tenants waiting."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from identity.crypto.jose.algorithms import ALGORITHMS, KeyKind, PrivateKey, SigningAlgorithm
from identity.crypto.jose.key_set import KeySet
from identity.crypto.keys.key_ring import KeyRing
from identity.crypto.keys.publication import KeyPublication
from server.platform.call import TenantId
from server.platform.clock import VirtualClock
from server.platform.errors import Unavailable
from tests.identity.crypto.keys.rings import ACME, NOON, UMBRELLA, Deployment, ShortKeys
from tests.waits import PATIENCE_SECONDS, ticks, until

ORDER = ["RS256", "ES256", "EdDSA", "RS384", "RS512"]


class HeldKeys(ShortKeys):
    """Slow keys are made only after `let_go`."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go = asyncio.Event()
        self.begun = 0

    async def make(self, kind: KeyKind) -> PrivateKey:
        if not kind.is_quick:
            self.begun += 1
            await self.let_go.wait()
        return await super().make(kind)


class WatchedRing:
    """Records the tenants whose keys were completed, in order."""

    def __init__(self, keys: KeyRing) -> None:
        self._keys = keys
        self.completed: list[TenantId] = []

    async def key_set(self, tenant_id: TenantId) -> KeySet:
        return await self._keys.key_set(tenant_id)

    async def complete(self, tenant_id: TenantId) -> None:
        await self._keys.complete(tenant_id)
        self.completed.append(tenant_id)


@pytest.fixture
def making() -> HeldKeys:
    return HeldKeys()


@pytest.fixture
def keys(making: HeldKeys) -> KeyRing:
    deployment = Deployment(VirtualClock(pinned=NOON))
    deployment.making = making
    return deployment.process()


@asynccontextmanager
async def running(publication: KeyPublication) -> AsyncIterator[KeyPublication]:
    async with asyncio.timeout(PATIENCE_SECONDS), asyncio.TaskGroup() as tasks:
        task = tasks.create_task(publication.run())
        yield publication
        task.cancel()


async def test_the_first_answer_has_a_key_of_each_algorithm(keys: KeyRing, making: HeldKeys) -> None:
    async with running(KeyPublication(keys)) as publication, asyncio.TaskGroup() as callers:
        first = callers.create_task(publication.key_set(ACME))
        second = callers.create_task(publication.key_set(ACME))
        await until(lambda: making.begun)
        assert not first.done()
        making.let_go.set()

    assert [key.algorithm for key in first.result().keys] == ORDER
    assert first.result() == second.result()
    assert dict.fromkeys(ALGORITHMS, 1) == Counter(making.made)


async def test_a_caller_of_one_algorithm_waits_for_no_other(keys: KeyRing, making: HeldKeys) -> None:
    found = await KeyPublication(keys).key_set(ACME, ("RS256",))

    assert ORDER[:3] == [key.algorithm for key in found.keys]
    assert making.begun == 0


async def test_keys_are_made_though_the_caller_gives_up(keys: KeyRing, making: HeldKeys) -> None:
    async with running(KeyPublication(keys)) as publication:
        caller = asyncio.ensure_future(publication.key_set(ACME))
        await until(lambda: making.begun)
        caller.cancel()
        await ticks(5)
        making.let_go.set()
        found = await publication.key_set(ACME)

    assert [key.algorithm for key in found.keys] == ORDER
    assert dict.fromkeys(ALGORITHMS, 1) == Counter(making.made)


async def test_a_caller_waits_no_longer_than_its_patience(keys: KeyRing, making: HeldKeys) -> None:
    async with running(KeyPublication(keys, patience_seconds=0)) as publication:
        with pytest.raises(Unavailable, match="being made"):
            await publication.key_set(ACME)
        making.let_go.set()


async def test_tenants_wait_in_bounded_number(keys: KeyRing, making: HeldKeys) -> None:
    async with running(KeyPublication(keys, most_tenants=1)) as publication:
        publication.prepare(ACME)
        publication.prepare(UMBRELLA)
        with pytest.raises(Unavailable, match="being made"):
            await publication.key_set(UMBRELLA)
        making.let_go.set()
        found = await publication.key_set(ACME)

    assert [key.algorithm for key in found.keys] == ORDER


async def test_callers_wait_in_bounded_number(keys: KeyRing, making: HeldKeys) -> None:
    async with running(KeyPublication(keys, most_callers=1)) as publication, asyncio.TaskGroup() as callers:
        first = callers.create_task(publication.key_set(ACME))
        await until(lambda: making.begun)
        with pytest.raises(Unavailable, match="being made"):
            await publication.key_set(ACME)
        making.let_go.set()

    assert [key.algorithm for key in first.result().keys] == ORDER


async def test_tenants_take_turns_and_their_tokens_wait_for_none_of_it(
    keys: KeyRing, making: HeldKeys
) -> None:
    tenants = [TenantId(f"tenant-{number}") for number in range(4)]

    async with running(KeyPublication(keys)) as publication:
        for tenant_id in tenants:
            publication.prepare(tenant_id)
        await until(lambda: making.begun)
        signing = [
            (await keys.key_set(tenant_id)).signing_key(SigningAlgorithm.RS256) for tenant_id in tenants
        ]
        assert making.begun == 1
        making.let_go.set()
        found = [await publication.key_set(tenant_id) for tenant_id in tenants]

    assert [key_set.find(key.kid) for key_set, key in zip(found, signing, strict=True)] == signing
    assert {tuple(key.algorithm for key in key_set.keys) for key_set in found} == {tuple(ORDER)}


async def test_a_tenant_that_a_caller_waits_for_comes_before_prepared_ones(
    keys: KeyRing, making: HeldKeys
) -> None:
    first, second, third = (TenantId(f"tenant-{number}") for number in range(3))
    ring = WatchedRing(keys)

    async with running(KeyPublication(ring)) as publication, asyncio.TaskGroup() as callers:
        for tenant_id in (first, second, third):
            publication.prepare(tenant_id)
        await until(lambda: making.begun)
        callers.create_task(publication.key_set(third))
        await until(lambda: publication.callers)
        making.let_go.set()
        await until(lambda: len(ring.completed) == 3)

    assert ring.completed == [first, third, second]
