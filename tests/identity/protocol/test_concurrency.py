"""Single-use operations succeed once under concurrency."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, cast

import pytest

from identity.access.device import DEVICES
from identity.access.tokens.config import TokenConfig
from identity.access.tokens.token_set import TOKEN_SETS
from identity.foundation.errors import AuthorizationPending, InvalidGrant, SlowDown
from identity.protocol.devices.verification import accepted
from identity.protocol.grants.pipeline import IssuedTokens
from server.platform.clock import VirtualClock
from server.platform.errors import NotFound, ResourceExhausted
from server.platform.records import Kind, Records, RecordStore
from server.platform.records.memory import MemoryRecordStore
from server.platform.records.port import R
from tests.identity.protocol.provider import ADA, TENANT, Provider

CALLERS = 100


class Interleaved:
    """Records in memory, where every call yields to other tasks first, as with a database."""

    def __init__(self, records: Records[Any]) -> None:
        self._records = records

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        call = getattr(self._records, name)

        async def later(*arguments: Any, **options: Any) -> Any:
            await asyncio.sleep(0)
            return await call(*arguments, **options)

        return later


class InterleavedStore:
    def __init__(self, store: RecordStore) -> None:
        self._store = store

    def of(self, kind: Kind[R]) -> Records[R]:
        return cast("Records[R]", Interleaved(self._store.of(kind)))


@pytest.fixture(
    params=[MemoryRecordStore, lambda clock: InterleavedStore(MemoryRecordStore(clock))],
    ids=["one after the other", "interleaved"],
)
def records(request: pytest.FixtureRequest, clock: VirtualClock) -> RecordStore:
    return cast("RecordStore", request.param(clock))


async def successes(calls: list[Awaitable[IssuedTokens]]) -> list[IssuedTokens]:
    async with asyncio.timeout(60):
        answers = await asyncio.gather(*calls, return_exceptions=True)
    refused = [answer for answer in answers if isinstance(answer, BaseException)]
    assert {InvalidGrant} >= {type(refusal) for refusal in refused}
    return [answer for answer in answers if isinstance(answer, IssuedTokens)]


async def test_of_many_redemptions_of_a_code_one_succeeds(provider: Provider) -> None:
    code = await provider.code()

    issued = await successes([provider.redeem(code) for _ in range(CALLERS)])

    assert len(issued) == 1
    assert not await provider.is_active(issued[0].access_token)


async def test_of_many_redemptions_of_a_device_code_one_succeeds(
    provider: Provider, records: RecordStore
) -> None:
    started = await provider.start_device()
    await provider.verification.decide(await provider.question(started.user_code), accepted)

    issued = await successes([provider.poll(started) for _ in range(CALLERS)])

    assert len(issued) == 1
    assert await provider.is_active(issued[0].access_token)
    assert len(await records.of(DEVICES).find(TENANT.tenant_id, "user_id", ADA.id)) == 1


async def test_of_many_uses_of_a_refresh_token_one_succeeds_where_there_is_no_grace(
    provider: Provider,
) -> None:
    strict = Provider(
        provider.records, provider.clock, provider.keys, token=TokenConfig(refresh_grace_secs=0)
    )
    first = await strict.sign_in()

    issued = await successes([strict.refresh(first.refresh_token) for _ in range(CALLERS)])

    assert len(issued) == 1


async def test_many_uses_of_a_refresh_token_at_once_replace_it_once(provider: Provider) -> None:
    first = await provider.sign_in()

    issued = await successes([provider.refresh(first.refresh_token) for _ in range(CALLERS)])

    assert {answer.refresh_token for answer in issued} == {issued[0].refresh_token}
    assert (await provider.refresh(issued[0].refresh_token)).access_token


async def test_redemptions_that_failed_leave_no_tokens_behind(
    provider: Provider, records: RecordStore
) -> None:
    started = await provider.start_device()
    await provider.verification.decide(await provider.question(started.user_code), accepted)

    await successes([provider.poll(started) for _ in range(CALLERS)])

    assert len(await records.of(TOKEN_SETS).page(TENANT.tenant_id)) == 1


async def test_a_decision_is_made_although_the_device_keeps_asking(provider: Provider) -> None:
    started = await provider.start_device()
    question = await provider.question(started.user_code)

    issued: list[IssuedTokens] = []

    async def ask() -> None:
        with suppress(AuthorizationPending, SlowDown, InvalidGrant):
            issued.append(await provider.poll(started))

    async with asyncio.timeout(60), asyncio.TaskGroup() as at_once:
        at_once.create_task(ask())
        at_once.create_task(provider.verification.decide(question, accepted))
        at_once.create_task(ask())
    await ask()

    assert len(issued) == 1


async def test_of_many_guesses_at_once_no_more_than_five_are_looked_at(provider: Provider) -> None:
    question = await provider.question("BBBB-BBBB")

    async with asyncio.timeout(60):
        answers = await asyncio.gather(
            *[provider.verification.decide(question, accepted) for _ in range(CALLERS)],
            return_exceptions=True,
        )

    kinds = Counter(map(type, answers))
    assert 1 <= kinds.pop(NotFound) <= 5
    assert set(kinds) == {ResourceExhausted}
