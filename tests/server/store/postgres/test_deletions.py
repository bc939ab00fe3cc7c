"""Deleted process instances leave history in bounded steps."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta

import asyncpg
import pytest

from server.engine.keys import Key
from server.platform.postgres.pooled import PooledDatabase
from server.store.entities import Entity
from server.store.ports import Batch, Forget, Insert
from server.store.postgres.deletions import INSTANCES_AT_ONCE, ROWS_AT_ONCE, Deletions
from server.store.postgres.history import History
from server.store.postgres.leases import Lease
from server.store.postgres.ledger import PostgresLedger
from server.store.postgres.reads import PostgresStore
from server.store.postgres.verify.rows import NOT_ARRIVED, WITHOUT_WHOLE
from server.store.searchables import ELEMENT_INSTANCES, PROCESS_INSTANCES
from tests.server.store.postgres.ledgers import PARTITION, contents, ledger_of
from tests.server.store.postgres.test_history import MONDAY, ONE_OF_EACH, rows_at, whole_instance
from tests.server.store.rows import TENANT, decision_instance, element_instance, process_instance


class Deleting:
    """A partition's ledger, and what deletes beside it."""

    def __init__(self, ledger: PostgresLedger, database: PooledDatabase) -> None:
        self._ledger = ledger
        self.database = database
        self.history = History(database)
        self.deletions = Deletions(database, self.history, PARTITION)

    async def write(self, *rows: Entity) -> None:
        await self._ledger.commit(Batch(list(map(Insert, rows))))

    async def forget(self, *keys: int, tenant_id: str = TENANT) -> None:
        await self._ledger.commit(Batch([Forget(tenant_id, Key(key)) for key in keys]))

    async def move(self, *keys: int) -> None:
        await self.history.move(PARTITION, list(map(Key, keys)))

    async def finish(self) -> int:
        """In how many steps."""
        while await self.deletions.hide():
            pass
        steps = 0
        while await self.deletions.delete_some():
            steps += 1
        return steps

    async def kept(self) -> dict[str, int]:
        found = await contents(self.database)
        return dict(Counter(rows_at(found, "history")) + Counter(rows_at(found, "runtime")))

    async def expect_order(self) -> None:
        """Everything adds up, and nothing is to be deleted any more."""
        for text in (NOT_ARRIVED, WITHOUT_WHOLE, "SELECT FROM gnomon.history_deletion"):
            assert await self.database.fetch(text) == []


@pytest.fixture
async def deleting(dsn: str, database: PooledDatabase, lease: Lease) -> AsyncIterator[Deleting]:
    async with ledger_of(dsn, lease, database) as ledger:
        yield Deleting(ledger, database)


@pytest.mark.parametrize("is_moved", [False, True], ids=["just ended", "in history"])
async def test_an_instance_leaves_with_all_its_rows_and_others_stay(
    deleting: Deleting, *, is_moved: bool
) -> None:
    decided = [decision_instance(key, process_instance_key=Key(whole)) for key, whole in ((6, 1), (16, 11))]
    await deleting.write(*whole_instance(1), *whole_instance(11), *decided)
    if is_moved:
        await deleting.move(1, 11)

    await deleting.forget(1)
    await deleting.finish()

    assert await deleting.kept() == {**ONE_OF_EACH, "decision_instance": 1}
    await deleting.move(11)
    await deleting.expect_order()


async def test_an_instance_of_another_tenant_stays(deleting: Deleting) -> None:
    await deleting.write(*whole_instance(1))
    await deleting.move(1)

    await deleting.forget(1, tenant_id="other")
    await deleting.finish()

    assert await deleting.kept() == ONE_OF_EACH
    await deleting.expect_order()


async def test_instances_of_several_weeks_and_tenants_leave_at_once(deleting: Deleting) -> None:
    keys = range(100, 160, 10)
    for place, key in enumerate(keys):
        end = MONDAY + timedelta(weeks=place % 3)
        rows = whole_instance(key, end)
        for row in rows:
            row.tenant_id = "other" if place % 2 else TENANT
        await deleting.write(*rows)
    await deleting.move(*keys)

    for place, key in enumerate(keys):
        await deleting.forget(key, tenant_id="other" if place % 2 else TENANT)
    await deleting.finish()

    assert await deleting.kept() == {}
    await deleting.expect_order()


async def test_a_large_instance_leaves_in_steps_and_is_not_found_from_the_first_on(
    deleting: Deleting,
) -> None:
    count = 2 * ROWS_AT_ONCE + 1
    elements = [element_instance(10 + number, 1, end_date=MONDAY) for number in range(count)]
    await deleting.write(*whole_instance(1), *elements)

    await deleting.forget(1)
    await deleting.deletions.hide()
    await deleting.deletions.delete_some()

    kept = await deleting.kept()
    assert kept == {"element_instance": count + 1 - ROWS_AT_ONCE}
    assert await deleting.finish() == 2
    assert await deleting.kept() == {}
    await deleting.expect_order()


async def test_many_instances_take_as_many_rounds_as_they_fill(deleting: Deleting) -> None:
    """Also with rows of a few of them only."""
    keys = range(1, 2 * INSTANCES_AT_ONCE + 1)
    ended = [row for key in keys for row in whole_instance(key)[:1]]
    await deleting.write(*ended)

    await deleting.forget(*keys)

    assert await deleting.deletions.hide() == INSTANCES_AT_ONCE
    assert await deleting.finish() == 2
    assert await deleting.kept() == {}
    await deleting.expect_order()


async def test_ten_thousand_instances_leave_a_bounded_number_at_a_time(deleting: Deleting) -> None:
    keys = range(1, 10_001)
    for first in keys[::1000]:
        ended = [row for key in range(first, first + 1000) for row in whole_instance(key)[:1]]
        await deleting.write(*ended)

    await deleting.forget(*keys)
    rounds = []
    while hidden := await deleting.deletions.hide():
        rounds.append(hidden)

    assert rounds == [INSTANCES_AT_ONCE] * (len(keys) // INSTANCES_AT_ONCE)
    assert await deleting.finish() == len(rounds)
    assert await deleting.kept() == {}
    await deleting.expect_order()


@pytest.mark.parametrize("steps", range(4))
async def test_another_process_goes_on_where_one_stopped(deleting: Deleting, steps: int) -> None:
    elements = [element_instance(10 + number, 1, end_date=MONDAY) for number in range(ROWS_AT_ONCE + 1)]
    await deleting.write(*whole_instance(1), *elements)
    await deleting.forget(1)
    first = (deleting.deletions.hide, *[deleting.deletions.delete_some] * 2)
    for step in first[:steps]:
        await step()

    deleting.deletions = Deletions(deleting.database, deleting.history, PARTITION)
    await deleting.finish()

    assert await deleting.kept() == {}
    await deleting.expect_order()


async def test_several_at_the_same_time_delete_each_row_once(deleting: Deleting) -> None:
    """Process instances that a caller deletes while they are moved are gone too."""
    keys = range(100, 400, 10)
    await deleting.write(*(row for key in keys for row in whole_instance(key)))
    await deleting.history.ensure_buckets(MONDAY)
    await deleting.forget(*keys)

    await asyncio.gather(
        deleting.finish(), deleting.finish(), deleting.move(*keys), deleting.move(*keys[::-1])
    )
    await deleting.finish()

    assert await deleting.kept() == {}
    await deleting.expect_order()


async def test_what_is_deleted_twice_is_deleted_once(deleting: Deleting) -> None:
    await deleting.write(*whole_instance(1), *whole_instance(11))

    await deleting.forget(1, 1)
    await deleting.forget(1)
    await deleting.finish()
    await deleting.forget(1)
    await deleting.finish()

    assert await deleting.kept() == ONE_OF_EACH


async def test_a_week_that_retention_dropped_meanwhile_has_nothing_left_to_delete(deleting: Deleting) -> None:
    elements = [element_instance(10 + number, 1, end_date=MONDAY) for number in range(ROWS_AT_ONCE + 1)]
    await deleting.write(*whole_instance(1), *elements)
    await deleting.forget(1)
    await deleting.deletions.hide()
    await deleting.deletions.delete_some()

    await deleting.history.drop_before((MONDAY + timedelta(weeks=2)).date())
    await deleting.finish()

    assert await deleting.kept() == {}
    await deleting.expect_order()


async def test_totals_of_searches_follow_each_step(deleting: Deleting, pool: asyncpg.Pool) -> None:
    """They are kept for as long as a week is as it was."""
    store = PostgresStore(pool)
    count = ROWS_AT_ONCE + 1
    elements = [element_instance(10 + number, 1, end_date=MONDAY) for number in range(count)]
    await deleting.write(*whole_instance(1)[:1], *elements, process_instance(2))
    await deleting.move(1)

    async def totals() -> list[int]:
        pages = [
            await store.search(each.entity, each.query(), tenant_id=TENANT)
            for each in (PROCESS_INSTANCES, ELEMENT_INSTANCES)
        ]
        return [page.total for page in pages]

    assert await totals() == [2, count]
    await deleting.forget(1)
    await deleting.deletions.hide()
    assert await totals() == [1, count]
    await deleting.deletions.delete_some()
    assert await totals() == [1, 1]
    await deleting.deletions.delete_some()
    assert await totals() == [1, 0]
