"""Laws of order and paging, for every store."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import cmp_to_key

from hypothesis import given
from hypothesis import strategies as st

from gnomon.engine.v1.process_instance_service_pb2 import SearchProcessInstancesRequest
from gnomon.query.v1.page_pb2 import SORT_ORDER_ASC, SORT_ORDER_DESC
from server.platform.query import Page, parse
from server.store.entities import ProcessInstance
from server.store.ports import Store
from server.store.searchables import PROCESS_INSTANCES
from tests.server.store.rows import TENANT, insert, process_instance, process_instances

NewStore = Callable[[], AbstractAsyncContextManager[Store]]
Sort = list[tuple[str, bool]]

ATTRIBUTES = {
    "businessId": "business_id",
    "processDefinitionVersion": "process_definition_version",
    "parentProcessInstanceKey": "parent_process_instance_key",
    "endDate": "end_date",
    "state": "state",
    "hasIncident": "has_incident",
    "processInstanceKey": "process_instance_key",
}
FILTERS: dict[str, tuple[dict[str, object], Callable[[ProcessInstance], bool]]] = {
    "all": ({}, lambda _: True),
    "indexed": ({"parent_process_instance_key": {"eq": 1}}, lambda row: row.parent_process_instance_key == 1),
    "plain": ({"process_definition_version": {"gt": 0}}, lambda row: row.process_definition_version > 0),
}
sorts = st.lists(st.tuples(st.sampled_from(sorted(ATTRIBUTES)), st.booleans()), max_size=4)
filters = st.sampled_from(sorted(FILTERS))
limits = st.integers(1, 7)


def expected_order(rows: list[ProcessInstance], chosen: str, sort: Sort) -> list[int]:
    """The order as the contract describes it, by comparing rows two at a time."""

    def compare(one: ProcessInstance, other: ProcessInstance) -> int:
        for name, is_descending in [*sort, ("processInstanceKey", False)]:
            left, right = getattr(one, ATTRIBUTES[name]), getattr(other, ATTRIBUTES[name])
            if left == right:
                continue
            if left is None or right is None:
                return 1 if left is None else -1
            return 1 if (left < right) is is_descending else -1
        return 0

    matches = [row for row in rows if FILTERS[chosen][1](row)]
    return [row.process_instance_key for row in sorted(matches, key=cmp_to_key(compare))]


async def page_of(store: Store, chosen: str, sort: Sort, **page: object) -> Page[ProcessInstance]:
    request = SearchProcessInstancesRequest(
        filter=FILTERS[chosen][0],
        sort=[
            {"field": field, "order": SORT_ORDER_DESC if is_descending else SORT_ORDER_ASC}
            for field, is_descending in sort
        ],
        page=page,
    )
    return await store.search(ProcessInstance, parse(PROCESS_INSTANCES, request), tenant_id=TENANT)


def keys_of(page: Page[ProcessInstance]) -> list[int]:
    return [row.process_instance_key for row in page.items]


@given(process_instances(), filters, sorts)
async def test_matches_come_in_the_order_of_the_sort_keys_and_then_of_their_key(
    new_store: NewStore, rows: list[ProcessInstance], chosen: str, sort: Sort
) -> None:
    async with new_store() as store:
        await insert(store, *rows)

        page = await page_of(store, chosen, sort, limit=500)

    expected = expected_order(rows, chosen, sort)
    assert expected == keys_of(page)
    assert len(expected) == page.total


@given(process_instances(), filters, sorts, limits)
async def test_pages_after_one_another_are_all_matches_in_order(
    new_store: NewStore, rows: list[ProcessInstance], chosen: str, sort: Sort, limit: int
) -> None:
    async with new_store() as store:
        await insert(store, *rows)
        page = await page_of(store, chosen, sort, limit=limit)
        keys = keys_of(page)

        while page.end_cursor is not None:
            page = await page_of(store, chosen, sort, limit=limit, after=page.end_cursor)
            keys += keys_of(page)

    assert expected_order(rows, chosen, sort) == keys
    assert page.start_cursor is None


@given(process_instances(), filters, sorts, limits)
async def test_pages_before_one_another_are_all_matches_in_order(
    new_store: NewStore, rows: list[ProcessInstance], chosen: str, sort: Sort, limit: int
) -> None:
    async with new_store() as store:
        await insert(store, *rows)
        everything = expected_order(rows, chosen, sort)
        page = await page_of(store, chosen, sort, **{"from": max(len(everything) - limit, 0)})
        keys = keys_of(page)

        while page.start_cursor is not None:
            page = await page_of(store, chosen, sort, limit=limit, before=page.start_cursor)
            keys = keys_of(page) + keys

    assert everything == keys


@given(process_instances(least=8), sorts, limits)
async def test_the_page_before_a_page_is_the_one_it_followed(
    new_store: NewStore, rows: list[ProcessInstance], sort: Sort, limit: int
) -> None:
    async with new_store() as store:
        await insert(store, *rows)
        first = await page_of(store, "all", sort, limit=limit)
        following = await page_of(store, "all", sort, limit=limit, after=first.end_cursor)

        before = await page_of(store, "all", sort, limit=limit, before=following.start_cursor)

    assert following.start_cursor is not None
    assert first == before


@given(
    rows=process_instances(),
    late=process_instances(least_key=100),
    chosen=filters,
    sort=sorts,
    limit=limits,
)
async def test_rows_inserted_between_pages_move_nothing_that_was_there(
    new_store: NewStore,
    *,
    rows: list[ProcessInstance],
    late: list[ProcessInstance],
    chosen: str,
    sort: Sort,
    limit: int,
) -> None:
    remaining = list(late)
    async with new_store() as store:
        await insert(store, *rows)
        page = await page_of(store, chosen, sort, limit=limit)
        keys = keys_of(page)

        while page.end_cursor is not None:
            await insert(store, *remaining[:2])
            del remaining[:2]
            page = await page_of(store, chosen, sort, limit=limit, after=page.end_cursor)
            keys += keys_of(page)

    were_there = {row.process_instance_key for row in rows}
    assert expected_order(rows, chosen, sort) == [key for key in keys if key in were_there]
    assert len(keys) == len(set(keys))


@given(process_instances(), sorts, limits, st.integers(0, 40))
async def test_a_page_from_an_offset_is_a_slice_of_the_order(
    new_store: NewStore, rows: list[ProcessInstance], sort: Sort, limit: int, offset: int
) -> None:
    async with new_store() as store:
        await insert(store, *rows)

        page = await page_of(store, "all", sort, **{"limit": limit, "from": offset})

    assert expected_order(rows, "all", sort)[offset : offset + limit] == keys_of(page)
    assert len(rows) == page.total


async def test_a_page_has_a_hundred_items_unless_it_says_otherwise(store: Store) -> None:
    await insert(store, *map(process_instance, range(1, 151)))

    page = await page_of(store, "all", [])

    assert list(range(1, 101)) == keys_of(page)
    assert page.total == 150


async def test_a_page_beyond_the_end_is_empty_and_still_counts(store: Store) -> None:
    await insert(store, process_instance(1))

    page = await page_of(store, "all", [], **{"from": 5})

    assert (page.total, list(page.items), page.start_cursor, page.end_cursor) == (1, [], None, None)


async def test_cursors_of_long_texts_fit_into_a_request(store: Store) -> None:
    snake = "\U0001f40d" * 5000
    rows = [
        process_instance(
            key, business_id=snake, process_definition_name=snake, process_definition_version_tag=snake
        )
        for key in (1, 2)
    ]
    sort = [("businessId", False), ("processInstanceKey", True)]
    await insert(store, *rows)

    page = await page_of(store, "all", sort, limit=1)
    following = await page_of(store, "all", sort, limit=1, after=page.end_cursor)

    assert len(page.end_cursor or "") <= 4096
    assert (keys_of(page), keys_of(following)) == ([2], [1])
