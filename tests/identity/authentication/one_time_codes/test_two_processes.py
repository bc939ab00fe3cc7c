"""A code that is presented concurrently is accepted once, in every store and over several processes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack

import pytest

from identity.authentication.authorization.sign_in import PASSWORD
from identity.authentication.one_time_codes.config import OneTimeCodeConfig
from identity.authentication.one_time_codes.question import CODE_QUESTIONS, CodeQuestions
from identity.authentication.one_time_codes.typed import CodeKind
from identity.authentication.requests.request import AuthorizationRequest
from identity.crypto.keys.master_keys import MasterKeys
from identity.directory.client import ClientId
from identity.directory.secrets import SecretHasher
from identity.foundation.randomness import SystemRandomness
from server.platform.clock import VirtualClock
from server.platform.errors import ResourceExhausted, Unauthenticated
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records import RecordStore
from server.platform.records.memory import MemoryRecordStore
from server.platform.records.postgres import PostgresRecordStore
from tests.durable import emptied, migrated_database
from tests.identity.authentication.one_time_codes.world import Process
from tests.identity.browsers import NOON, alice

MANY = 8


@pytest.fixture(scope="session")
def codes_dsn(postgres_dsn: str) -> str:
    return asyncio.run(migrated_database(postgres_dsn, "one_time_codes"))


@pytest.fixture(params=["memory", "postgresql"])
async def stores(
    request: pytest.FixtureRequest, codes_dsn: str
) -> AsyncIterator[tuple[RecordStore, RecordStore]]:
    """Return the stores of two processes."""
    clock = VirtualClock(pinned=NOON)
    if request.param == "memory":
        store = MemoryRecordStore(clock)
        yield store, store
        return
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(emptied(codes_dsn))
        pools = [await stack.enter_async_context(open_pool(codes_dsn, MANY // 2)) for _ in range(2)]
        one, other = (PostgresRecordStore(PooledDatabase(pool), clock) for pool in pools)
        yield one, other


@pytest.fixture
async def processes(stores: tuple[RecordStore, RecordStore], masters: MasterKeys) -> tuple[Process, Process]:
    clock = VirtualClock(pinned=NOON)
    one, other = (Process(store, clock, masters) for store in stores)
    await one.admit_alice()
    return one, other


async def outcomes(*attempts: Awaitable[object]) -> list[object]:
    return list(await asyncio.gather(*attempts, return_exceptions=True))


async def test_a_code_lets_one_in(processes: tuple[Process, Process]) -> None:
    secret = await processes[0].add()
    code = processes[0].code(secret)

    found = await outcomes(*(each.verify(code) for each in processes * 2))

    assert found.count(CodeKind.ONE_TIME) == 1
    assert sum(isinstance(each, Unauthenticated) for each in found) == 3


async def test_a_recovery_code_lets_one_in(processes: tuple[Process, Process]) -> None:
    one, _ = processes
    await one.add()
    codes = await one.administration.make_recovery_codes(one.alice, modification_token="")

    found = await outcomes(*(each.verify(codes[5]) for each in processes * 2))

    assert found.count(CodeKind.RECOVERY) == 1
    assert len((await one.kept()).recovery_hashes) == 9


async def test_of_many_guesses_at_a_time_five_are_looked_at(processes: tuple[Process, Process]) -> None:
    secret = await processes[0].add()
    wrong = processes[0].wrong_code(secret)

    found = await outcomes(*(each.verify(wrong) for each in processes * (MANY // 2)))

    assert sum(isinstance(each, Unauthenticated) for each in found) == 5
    assert sum(isinstance(each, ResourceExhausted) for each in found) == MANY - 5
    assert (await processes[1].kept()).wrong_in_a_row == 5


async def test_a_question_is_answered_once(stores: tuple[RecordStore, RecordStore]) -> None:
    hasher, clock = SecretHasher(b"k" * 32), VirtualClock(pinned=NOON)
    one, other = (
        CodeQuestions(
            store.of(CODE_QUESTIONS),
            hasher,
            clock=clock,
            randomness=SystemRandomness(),
            config=OneTimeCodeConfig(),
        )
        for store in stores
    )
    tenant = Process(
        stores[0], clock, MasterKeys({"k": b"k" * 32}, "k", randomness=SystemRandomness())
    ).tenant
    request = AuthorizationRequest(
        tenant_id=tenant.tenant_id, id="", client_id=ClientId("app"), redirect_uri="https://app.example/"
    )
    name = one.new_name()
    await one.ask(name, "s1", alice(), request=request, first=PASSWORD)
    asked = [await each.find(tenant, name, "s1") for each in (one, other)]

    found = await outcomes(*(each.take(question) for each, question in zip((one, other), asked, strict=True)))

    assert asked[0] == asked[1]
    assert found.count(None) == 1
    assert sum(isinstance(each, Unauthenticated) for each in found) == 1
