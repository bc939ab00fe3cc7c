"""Totals are exact whatever happened since the last count: what one store remembers is what a new one counts."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta

import asyncpg
import pytest

from gnomon.engine.v1.process_instance_service_pb2 import SearchProcessInstancesRequest
from server.engine.keys import Key
from server.platform.errors import Unavailable
from server.platform.postgres.pooled import PooledDatabase
from server.platform.query import Window, equals, parse
from server.store.entities import AuditEntry, Entity, ProcessInstance
from server.store.ports import Batch, Insert, Update
from server.store.postgres.columns import BUCKETED
from server.store.postgres.history import History
from server.store.postgres.leases import Lease
from server.store.postgres.ledger import PostgresLedger
from server.store.postgres.reads import PostgresStore
from server.store.searchables import AUDIT_ENTRIES, PROCESS_INSTANCES, SEARCHABLES
from tests.server.store.postgres.ledgers import (
    PARTITION,
    audit_entry,
    ledger_of,
    somebody_waits_for_a_lock,
    until,
)
from tests.server.store.postgres.test_history import MONDAY, WEEK, whole_instance
from tests.server.store.rows import TENANT, batch_operation_item

AMOUNT = {"variables": [{"name": "amount", "value": {"eq": "1"}}]}
WITH_AMOUNT = parse(PROCESS_INSTANCES, SearchProcessInstancesRequest(filter=AMOUNT, page={"limit": 2}))
Step = Callable[["Deployment"], Awaitable[object]]


class Deployment:
    """A partition's commits, its history, and a store that is asked after each step."""

    def __init__(self, pool: asyncpg.Pool, ledger: PostgresLedger) -> None:
        self._pool = pool
        self._ledger = ledger
        self._history = History(PooledDatabase(pool))
        self._store = PostgresStore(pool)

    async def totals(self) -> dict[str, int]:
        found = await self._asked(self._store)
        assert await self._asked(PostgresStore(self._pool)) == found
        return found

    async def _asked(self, store: PostgresStore) -> dict[str, int]:
        query = Window(limit=2)
        found = {
            entity.__name__: (
                await store.search(entity, SEARCHABLES[entity].query(window=query), tenant_id=TENANT)
            ).total
            for entity in sorted(BUCKETED, key=lambda entity: entity.__name__)
        }
        refused = AUDIT_ENTRIES.query(equals(AUDIT_ENTRIES, "result", "FAIL"), window=query)
        completed = PROCESS_INSTANCES.query(equals(PROCESS_INSTANCES, "state", "COMPLETED"), window=query)
        found["with a variable"] = (await store.search(ProcessInstance, WITH_AMOUNT, tenant_id=TENANT)).total
        found["refused"] = (await store.search(AuditEntry, refused, tenant_id=TENANT)).total
        found["completed"] = (await store.search(ProcessInstance, completed, tenant_id=TENANT)).total
        return found

    async def write(self, *rows: Entity) -> None:
        await self._ledger.commit(Batch(list(map(Insert, rows)), audit=[audit_entry(timestamp=MONDAY)]))

    async def change(self, key: int, **values: object) -> None:
        await self._ledger.commit(Batch([Update(ProcessInstance, Key(key), values)]))

    async def move(self, *keys: int) -> None:
        await self._history.move(PARTITION, list(map(Key, keys)))

    async def drop(self, before: datetime) -> None:
        await self._history.drop_before(before.date())


def _write(key: int, end: datetime | None = MONDAY, **values: object) -> Step:
    return lambda deployment: deployment.write(*whole_instance(key, end, **values))


def _move(*keys: int) -> Step:
    return lambda deployment: deployment.move(*keys)


def _drop(before: datetime) -> Step:
    return lambda deployment: deployment.drop(before)


def _change(key: int, **values: object) -> Step:
    return lambda deployment: deployment.change(key, **values)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        pytest.param([_write(1), _move(1)], [(1, 1), (1, 1)], id="a move changes no total"),
        pytest.param(
            [_write(1), _move(1), _write(11), _move(11)],
            [(1, 1), (1, 1), (2, 2), (2, 2)],
            id="more comes to a week that was counted",
        ),
        pytest.param(
            [_write(1), _move(1), _drop(MONDAY + WEEK), _write(11), _move(11)],
            [(1, 1), (1, 1), (0, 0), (1, 1), (1, 1)],
            id="a week that was dropped comes again with as many",
        ),
        pytest.param(
            [_write(1), _write(11, MONDAY + WEEK), _move(1, 11), _drop(MONDAY + WEEK)],
            [(1, 1), (2, 2), (2, 2), (1, 1)],
            id="one week of two is dropped",
        ),
        pytest.param(
            [_write(1, None), _change(1, state="COMPLETED", end_date=MONDAY), _move(1)],
            [(1, 0), (1, 1), (1, 1)],
            id="a live row changes",
        ),
    ],
)
async def test_totals_are_exact_after_every_step(
    dsn: str, pool: asyncpg.Pool, lease: Lease, steps: list[Step], expected: list[tuple[int, int]]
) -> None:
    seen = []
    async with ledger_of(dsn, lease, PooledDatabase(pool)) as ledger:
        deployment = Deployment(pool, ledger)
        await deployment.totals()

        for step in steps:
            await step(deployment)
            seen.append(await deployment.totals())

    assert [(found["Variable"], found["completed"]) for found in seen] == expected
    assert [found["with a variable"] for found in seen] == [number for number, _ in expected]


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        pytest.param(2, (2, True), id="more than the bound"),
        pytest.param(3, (3, False), id="as many as the bound"),
        pytest.param(None, (3, False), id="no bound"),
    ],
)
async def test_a_count_with_a_bound_stops_there_and_says_so(
    dsn: str, pool: asyncpg.Pool, lease: Lease, most: int | None, expected: tuple[int, bool]
) -> None:
    store = PostgresStore(pool)
    query = replace(PROCESS_INSTANCES.query(window=Window(limit=10)), most_total=most)
    async with ledger_of(dsn, lease, PooledDatabase(pool)) as ledger:
        deployment = Deployment(pool, ledger)
        await deployment.write(*whole_instance(1), *whole_instance(11), *whole_instance(21, MONDAY + WEEK))
        await deployment.move(1, 21)

        seen = [await store.search(ProcessInstance, query, tenant_id=TENANT) for _ in range(2)]

    assert [(page.total, page.has_more_total) for page in seen] == [expected, expected]
    assert [len(page.items) for page in seen] == [3, 3]


async def test_audit_entries_are_counted_with_every_commit(
    dsn: str, pool: asyncpg.Pool, lease: Lease
) -> None:
    store = PostgresStore(pool)
    query = AUDIT_ENTRIES.query(equals(AUDIT_ENTRIES, "result", "FAIL"), window=Window(limit=1))
    seen = []
    async with ledger_of(dsn, lease, PooledDatabase(pool)) as ledger:
        for result, timestamp in (
            ("SUCCESS", MONDAY),
            ("FAIL", MONDAY),
            ("FAIL", MONDAY + WEEK),
            ("FAIL", MONDAY - timedelta(days=1)),
        ):
            await ledger.commit(Batch(audit=[audit_entry(result=result, timestamp=timestamp)]))
            seen.append((await store.search(AuditEntry, query, tenant_id=TENANT)).total)

    assert seen == [0, 1, 2, 3]


async def test_ended_instances_are_counted_with_the_items_of_batch_operations_that_are_left(
    dsn: str, pool: asyncpg.Pool, lease: Lease
) -> None:
    """Items do not move to history, and leave it to their own retention."""
    asked = SearchProcessInstancesRequest(filter={"batch_operation_key": {"eq": 50}}, page={"limit": 1})
    query, store, seen = parse(PROCESS_INSTANCES, asked), PostgresStore(pool), []
    async with ledger_of(dsn, lease, PooledDatabase(pool)) as ledger:
        deployment = Deployment(pool, ledger)
        await deployment.write(*whole_instance(1), *whole_instance(11), *whole_instance(21))
        await deployment.write(batch_operation_item(61, 50, process_instance_key=Key(1)))
        await deployment.write(batch_operation_item(62, 50, process_instance_key=Key(11)))
        await deployment.move(1, 21)
        for item_key in (0, 61, 62):
            await pool.execute(
                "DELETE FROM runtime.batch_operation_item WHERE batch_operation_item_key = $1", item_key
            )
            seen.append((await store.search(ProcessInstance, query, tenant_id=TENANT)).total)

    assert seen == [2, 1, 0]


async def test_a_search_that_finds_tables_of_a_week_missing_is_to_be_repeated(
    dsn: str, pool: asyncpg.Pool, lease: Lease
) -> None:
    async with ledger_of(dsn, lease, PooledDatabase(pool)) as ledger:
        deployment = Deployment(pool, ledger)
        await deployment.write(*whole_instance(1))
        await deployment.move(1)
    await pool.execute("DROP TABLE history.variable_20260302")

    with pytest.raises(Unavailable, match="repeat the search"):
        await PostgresStore(pool).search(ProcessInstance, WITH_AMOUNT, tenant_id=TENANT)


async def test_a_search_that_meets_a_week_as_it_is_dropped_is_answered(
    dsn: str, pool: asyncpg.Pool, lease: Lease
) -> None:
    database = PooledDatabase(pool)
    query = PROCESS_INSTANCES.query(window=Window(limit=1))
    async with ledger_of(dsn, lease, database) as ledger:
        deployment = Deployment(pool, ledger)
        await deployment.write(*whole_instance(1), *whole_instance(11, MONDAY + WEEK))
        await deployment.move(1, 11)
    async with asyncio.TaskGroup() as tasks, pool.acquire() as dropper, dropper.transaction():
        await dropper.execute("DROP TABLE history.process_instance_20260302")
        search = tasks.create_task(PostgresStore(pool).search(ProcessInstance, query, tenant_id=TENANT))
        await until(lambda: somebody_waits_for_a_lock(database))

    page = search.result()
    assert (page.total, [row.process_instance_key for row in page.items]) == (1, [11])
