"""A search means the same in PostgreSQL as in memory."""

import pytest
from hypothesis import given

from server.engine.keys import Key
from server.platform.postgres.pool import open_pool
from server.platform.query import Condition, Operator, Page, Query, Searchable, SortKey, Window
from server.platform.query.cursor import position_of
from server.platform.query.model import Position, position_reader
from server.platform.query.sql import page_of, page_of_few
from server.store.entities import CorrelatedMessageSubscription, Entity
from server.store.memory import MemoryStore
from server.store.ports import Batch, Insert, Store
from server.store.postgres.reads import PostgresStore
from server.store.postgres.relations import RELATIONS
from server.store.searchables import CORRELATED_MESSAGE_SUBSCRIPTIONS
from tests.server.store.durable import empty, write
from tests.server.store.postgres.queries import Search, row_of, searches, searches_by_variables, with_window
from tests.server.store.rows import TENANT


async def pages(store: Store, searchable: Searchable[Entity], query: Query) -> list[Page[Entity]]:
    """The page of the query, those after it to the end, and those before the last one to the beginning."""

    async def page(asked: Query) -> Page[Entity]:
        found = await store.search(searchable.entity, asked, tenant_id=TENANT)
        return Page(list(found.items), found.total, found.start_cursor, found.end_cursor)

    def place(cursor: str | None) -> Position | None:
        return None if cursor is None else position_of(cursor, query.clauses, query.sort)

    walked = [await page(query)]
    last = None
    while (after := place(walked[-1].end_cursor)) is not None:
        walked.append(await page(with_window(query, after=after)))
        last = after
    while last is not None:
        walked.append(await page(with_window(query, before=last)))
        last = place(walked[-1].start_cursor)
    return walked


@given(searches() | searches_by_variables())
async def test_every_page_of_every_search_is_that_of_the_store_in_memory(
    durable_dsn: str, search: Search
) -> None:
    searchable, rows, query = search
    memory = MemoryStore(max_finished_instances=1000)
    await memory.commit(Batch([Insert(row) for row in rows]))
    async with open_pool(durable_dsn, 1) as pool:
        await empty(pool)
        await write(pool, rows)
        store = PostgresStore(pool)

        found = await pages(store, searchable, query)

    assert await pages(memory, searchable, query) == found


@pytest.mark.parametrize("number", [-(1 << 63), 1 << 15, 1 << 31, (1 << 63) - 1])
async def test_a_number_beyond_a_column_is_that_of_no_row(durable_dsn: str, number: int) -> None:
    row = row_of(CorrelatedMessageSubscription, correlated_message_subscription_key=Key(7), partition_id=1)
    partition = CORRELATED_MESSAGE_SUBSCRIPTIONS.fields["partition_id"]
    by_partition = SortKey(partition)
    asked = [
        CORRELATED_MESSAGE_SUBSCRIPTIONS.query(Condition(partition, operator, operand))
        for operator, operand in (
            (Operator.EQ, number),
            (Operator.NEQ, number),
            (Operator.GT, number),
            (Operator.IN, (number, 1)),
            (Operator.NOT_IN, (number,)),
        )
    ]
    asked.append(
        CORRELATED_MESSAGE_SUBSCRIPTIONS.query(sort=(by_partition,), window=Window(10, after=(number, 0)))
    )
    memory = MemoryStore(max_finished_instances=1000)
    await memory.commit(Batch([Insert(row)]))
    async with open_pool(durable_dsn, 1) as pool:
        await empty(pool)
        await write(pool, [row])
        store = PostgresStore(pool)

        found = [await pages(store, CORRELATED_MESSAGE_SUBSCRIPTIONS, query) for query in asked]

    assert found == [await pages(memory, CORRELATED_MESSAGE_SUBSCRIPTIONS, query) for query in asked]


@given(searches())
async def test_a_page_of_few_matches_is_that_of_many(durable_dsn: str, search: Search) -> None:
    searchable, rows, query = search
    relation, place = RELATIONS[searchable.entity], position_reader(query.sort)
    places = [place(row) for row in rows[:4]]
    windows = [
        query,
        *(with_window(query, after=found) for found in places),
        *(with_window(query, before=found) for found in places),
    ]
    async with open_pool(durable_dsn, 1) as pool:
        await empty(pool)
        await write(pool, rows)

        found = [
            [await pool.fetch(statement.text, *statement.arguments) for statement in statements]
            for statements in (
                [page(relation, asked, tenant_id=TENANT) for asked in windows]
                for page in (page_of, page_of_few)
            )
        ]

    assert found[0] == found[1]


@given(searches())
async def test_every_row_is_read_as_it_was_written(durable_dsn: str, search: Search) -> None:
    searchable, rows, _ = search
    async with open_pool(durable_dsn, 1) as pool:
        await empty(pool)
        await write(pool, rows)
        store = PostgresStore(pool)

        found = [
            await store.get(searchable.entity, getattr(row, searchable.key.name), tenant_id=row.tenant_id)
            for row in rows
        ]

    assert rows == found
