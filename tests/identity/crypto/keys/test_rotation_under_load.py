"""During a rotation, a token of any process verifies at every other one, and with its published key set."""

import asyncio
import operator
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from functools import partial
from itertools import count, cycle

import pytest

from identity.crypto.jose.algorithms import SigningAlgorithm
from identity.crypto.keys.key_ring import KeyRing
from identity.foundation.events.kinds import EventType
from server.platform.clock import SystemClock
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records.memory import MemoryRecordStore
from server.platform.records.postgres import PostgresRecordStore
from tests.identity.crypto.keys.rings import ACME, Deployment
from tests.waits import until

ROTATIONS = 4
FASTER = 20
ALGORITHMS = (SigningAlgorithm.ES256, SigningAlgorithm.RS256, SigningAlgorithm.EDDSA)


class FastClock:
    """A clock that advances twenty seconds a second."""

    def __init__(self) -> None:
        self._clock = SystemClock()
        self._began_at = self._clock.now()

    def now(self) -> datetime:
        return self._began_at + (self._clock.now() - self._began_at) * FASTER

    def seconds_until(self, instant: datetime) -> float:
        return max((instant - self.now()) / timedelta(seconds=FASTER), 0.0)


@pytest.fixture(params=["memory", "two pools"])
async def deployments(
    request: pytest.FixtureRequest, identity_dsn: str
) -> AsyncIterator[Sequence[Deployment]]:
    """One deployment as seen by its two processes."""
    clock = FastClock()
    if request.param == "memory":
        yield [Deployment(clock, MemoryRecordStore(clock))] * 2
        return
    async with AsyncExitStack() as stack:
        pools = [await stack.enter_async_context(open_pool(identity_dsn, 2)) for _ in range(2)]
        yield [Deployment(clock, PostgresRecordStore(PooledDatabase(pool), clock)) for pool in pools]


async def test_no_token_ever_fails_to_verify(deployments: Sequence[Deployment]) -> None:
    rings = [deployment.process() for deployment in deployments]
    await rings[0].complete(ACME)
    before = {key.kid for key in (await rings[0].key_set(ACME)).keys}
    verified: set[str] = set()

    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        loads = [
            tasks.create_task(load(signer, verifier, verified)) for signer in rings for verifier in rings
        ]
        for _, ring in zip(range(ROTATIONS), cycle(rings), strict=False):
            known = frozenset(verified)
            await ring.rotate(ACME)
            await until(partial(operator.gt, verified, known))
        for task in loads:
            task.cancel()

    assert len(verified - before) >= ROTATIONS
    events = await deployments[0].events()
    assert [event.type for event in events] == [EventType.JWKS_ROTATED] * ROTATIONS


async def load(signer: KeyRing, verifier: KeyRing, verified: set[str]) -> None:
    """Sign at one process and verify at another until cancelled; a failure ends the test."""
    for number, algorithm in zip(count(), cycle(ALGORITHMS), strict=False):
        payload = str(number).encode()
        signing_key = (await signer.key_set(ACME)).signing_key(algorithm)
        token = signing_key.sign(payload)
        key = (await verifier.key_set(ACME)).find(signing_key.kid)
        assert key is not None, "a key signs that is not published"
        assert key.payload(token) == payload
        verified.add(signing_key.kid)
        await asyncio.sleep(0)
