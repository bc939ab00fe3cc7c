"""Reads that get no answer, and texts that no row can hold."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from server.engine.keys import Key
from server.platform.errors import Unavailable
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.query import Condition, Operator, SortKey, Window
from server.store.entities import ProcessInstance
from server.store.ports import Batch, Insert, Update
from server.store.postgres.reads import PostgresStore
from server.store.searchables import PROCESS_INSTANCES
from tests.server.store.durable import DurableStore, durable_store
from tests.server.store.rows import TENANT, process_instance

EVERYTHING = PROCESS_INSTANCES.query(window=Window(10))
BUSINESS_ID = PROCESS_INSTANCES.fields["business_id"]


@pytest.fixture
async def durable(durable_dsn: str) -> AsyncIterator[DurableStore]:
    async with durable_store(durable_dsn) as store:
        yield store


async def keys(store: PostgresStore, *conditions: Condition, tenant_id: str = TENANT) -> list[int]:
    query = PROCESS_INSTANCES.query(*conditions, window=Window(10))
    page = await store.search(ProcessInstance, query, tenant_id=tenant_id)
    assert len(page.items) == page.total
    return [row.process_instance_key for row in page.items]


@pytest.mark.parametrize(
    ("operator", "operand"),
    [
        (Operator.EQ, "a\0b"),
        (Operator.IN, ("x", "a\0b")),
        (Operator.LIKE, "a?b"),
        (Operator.LIKE, "a\0*"),
        (Operator.GTE, "a\0b"),
    ],
)
async def test_a_text_with_nul_is_found_as_it_was_stored(
    durable: DurableStore, operator: Operator, operand: str | tuple[str, ...]
) -> None:
    row = process_instance(1, business_id="a\0b")
    await durable.commit(Batch([Insert(row), Insert(process_instance(2, business_id="a"))]))

    found = await keys(durable, Condition(BUSINESS_ID, operator, operand))

    assert found == [1]


async def test_a_cursor_with_nul_is_a_place_like_any_other(durable: DurableStore) -> None:
    await durable.commit(Batch([Insert(process_instance(1, business_id="b"))]))
    query = PROCESS_INSTANCES.query(sort=[SortKey(BUSINESS_ID)], window=Window(10, after=("a\0", Key(9))))

    page = await durable.search(ProcessInstance, query, tenant_id=TENANT)

    assert [row.business_id for row in page.items] == ["b"]


async def test_a_tenant_with_nul_has_no_rows(durable: DurableStore) -> None:
    await durable.commit(Batch([Insert(process_instance(1))]))

    assert await durable.get(ProcessInstance, Key(1), tenant_id="\0") is None
    assert await keys(durable, tenant_id="\0") == []


async def test_a_total_follows_every_commit(durable: DurableStore) -> None:
    condition = Condition(BUSINESS_ID, Operator.EXISTS, operand=True)
    seen = [await keys(durable, condition)]

    for change in (
        Insert(process_instance(1, business_id="a")),
        Update(ProcessInstance, Key(1), {"business_id": None}),
        Insert(process_instance(2, business_id="b")),
    ):
        await durable.commit(Batch([change]))
        seen += [await keys(durable, condition), await keys(durable, condition)]

    assert seen == [[], [1], [1], [], [], [2], [2]]


async def test_a_pool_without_a_free_connection_is_unavailable(durable_dsn: str) -> None:
    async with open_pool(durable_dsn, 1) as pool, pool.acquire():
        with pytest.raises(Unavailable):
            await PooledDatabase(pool, acquire_seconds=0.05).fetch("SELECT 1")


async def test_a_statement_that_takes_too_long_is_unavailable(durable_dsn: str) -> None:
    async with open_pool(durable_dsn, 1) as pool:
        await pool.execute("SET statement_timeout = 50")

        with pytest.raises(Unavailable):
            await PooledDatabase(pool).fetch("SELECT pg_sleep(10)")


async def test_a_store_whose_pool_is_closed_is_unavailable(durable_dsn: str) -> None:
    async with open_pool(durable_dsn, 1) as pool:
        store = PostgresStore(pool)

    with pytest.raises(Unavailable):
        await store.search(ProcessInstance, EVERYTHING, tenant_id=TENANT)
    with pytest.raises(Unavailable):
        await store.get(ProcessInstance, Key(1), tenant_id=TENANT)


async def test_a_faulty_statement_is_no_outage(durable_dsn: str) -> None:
    async with open_pool(durable_dsn, 1) as pool:
        with pytest.raises(asyncpg.UndefinedTableError):
            await PooledDatabase(pool).fetch("SELECT 1 FROM nowhere")
