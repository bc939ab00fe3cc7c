"""Effects of a batch and visibility of its rows, for every store."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from hypothesis import given
from hypothesis import strategies as st

from gnomon.engine.v1.process_instance_service_pb2 import SearchProcessInstancesRequest
from server.engine.keys import Key
from server.platform.query import equals, parse
from server.store.entities import Job, ProcessInstance, ProcessInstanceState, Variable
from server.store.ports import Batch, Insert, Store, Update
from server.store.searchables import PROCESS_INSTANCES, VARIABLES
from tests.server.store.rows import TENANT, commit, found, insert, job, process_instance, variable

NewStore = Callable[[], AbstractAsyncContextManager[Store]]


async def test_a_row_is_read_as_it_was_inserted(store: Store) -> None:
    await insert(store, job(5, 1))

    assert job(5, 1) == await store.get(Job, Key(5), tenant_id=TENANT)


async def test_changes_of_a_batch_apply_in_order(store: Store) -> None:
    batch = Batch(
        [
            Insert(process_instance(1)),
            Update(ProcessInstance, Key(1), {"has_incident": True}),
            Update(ProcessInstance, Key(1), {"has_incident": False, "business_id": "b-1"}),
        ]
    )

    await commit(store, batch)

    expected = process_instance(1, business_id="b-1")
    assert expected == await store.get(ProcessInstance, Key(1), tenant_id=TENANT)


async def test_an_update_of_a_row_that_is_not_there_changes_nothing(store: Store) -> None:
    await commit(store, Batch([Update(ProcessInstance, Key(1), {"has_incident": True})]))

    assert await store.get(ProcessInstance, Key(1), tenant_id=TENANT) is None


async def test_entities_of_one_key_are_told_apart(store: Store) -> None:
    await insert(store, process_instance(1), job(1, 1))

    assert process_instance(1) == await store.get(ProcessInstance, Key(1), tenant_id=TENANT)
    assert await store.get(Variable, Key(1), tenant_id=TENANT) is None


async def test_a_search_by_an_indexed_field_follows_its_updates(store: Store) -> None:
    await insert(store, process_instance(1, parent_process_instance_key=Key(8)), process_instance(2))

    await commit(
        store,
        Batch(
            [
                Update(ProcessInstance, Key(1), {"parent_process_instance_key": None}),
                Update(ProcessInstance, Key(2), {"parent_process_instance_key": Key(8)}),
            ]
        ),
    )

    assert await found(store, filter={"parent_process_instance_key": {"eq": 8}}) == [2]
    assert await found(store, filter={"parent_process_instance_key": {"exists": False}}) == [1]


async def test_the_programs_own_reads_have_no_limit(store: Store) -> None:
    await insert(store, *(variable(key, 1) for key in range(1, 701)), variable(701, 2))

    page = await store.search(Variable, VARIABLES.query(equals(VARIABLES, "scope_key", 1)), tenant_id=TENANT)

    assert (len(page.items), page.total) == (700, 700)


async def test_a_row_of_another_tenant_is_not_there(store: Store) -> None:
    await insert(store, process_instance(1, tenant_id="other"))

    assert await store.get(ProcessInstance, Key(1), tenant_id=TENANT) is None


tenants = st.sampled_from(["acme", "other", "third"])
requests = st.sampled_from(
    [
        {},
        {"filter": {"process_instance_key": {"in": list(range(1, 31))}}},
        {"filter": {"process_definition_key": {"eq": 7}}},
        {"filter": {"process_definition_key": {"in": [7, 8]}}},
        {"filter": {"tenant_id": {"neq": "nobody"}}},
        {"sort": [{"field": "state", "order": 2}]},
    ]
)


@given(st.dictionaries(st.integers(1, 30), tenants), requests)
async def test_a_search_answers_with_the_rows_of_its_tenant_alone(
    new_store: NewStore, owners: dict[int, str], request_fields: dict[str, object]
) -> None:
    async with new_store() as store:
        await insert(store, *(process_instance(key, tenant_id=owner) for key, owner in owners.items()))

        seen = {tenant: await found(store, tenant, **request_fields) for tenant in ("acme", "other", "third")}

    for tenant, keys in seen.items():
        assert sorted(key for key, owner in owners.items() if owner == tenant) == keys


async def test_a_cursor_of_one_tenant_shows_another_its_own_rows(store: Store) -> None:
    await insert(store, process_instance(1), process_instance(2, tenant_id="other"), process_instance(3))
    first = parse(PROCESS_INSTANCES, SearchProcessInstancesRequest(page={"limit": 1}))
    page = await store.search(ProcessInstance, first, tenant_id=TENANT)

    assert await found(store, "other", page={"after": page.end_cursor}) == [2]


async def test_an_ended_instance_stays_readable(store: Store) -> None:
    await insert(store, process_instance(1), job(2, 1))

    await commit(store, Batch([Update(ProcessInstance, Key(1), {"state": ProcessInstanceState.COMPLETED})]))

    assert await found(store) == [1]
    assert await store.get(Job, Key(2), tenant_id=TENANT) is not None
