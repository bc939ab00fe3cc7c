import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.engine.keys import Key
from server.platform.query import equals
from server.store.entities import (
    AuditEntry,
    AuditResult,
    BatchOperation,
    BatchOperationItem,
    DecisionInstance,
    ElementInstance,
    Entity,
    Incident,
    Job,
    ProcessInstance,
    ProcessInstanceState,
    Variable,
)
from server.store.memory import MemoryStore
from server.store.ports import Batch, Delete, Forget, Insert, Update
from server.store.searchables import PROCESS_INSTANCES, SEARCHABLES
from tests.server.store.rows import (
    START,
    TENANT,
    batch_operation,
    batch_operation_item,
    decision_instance,
    element_instance,
    found,
    incident,
    insert,
    job,
    process_instance,
    variable,
)

END = {"state": ProcessInstanceState.COMPLETED}


async def everything(store: MemoryStore) -> dict[type[Entity], list[int]]:
    pages = {
        entity: await store.search(entity, searchable.query(), tenant_id=TENANT)
        for entity, searchable in SEARCHABLES.items()
    }
    return {
        entity: [getattr(row, SEARCHABLES[entity].key.name) for row in page.items]
        for entity, page in pages.items()
        if page.items
    }


async def end(store: MemoryStore, *keys: int) -> None:
    for key in keys:
        await store.commit(Batch([Update(ProcessInstance, Key(key), END)]))


async def test_a_forgotten_instance_leaves_with_all_its_rows_and_takes_no_place() -> None:
    store = MemoryStore(1)
    for key in (100, 200):
        await insert(store, process_instance(key), element_instance(key + 1, key), variable(key + 3, key))
        await end(store, key)
        if key == 100:
            await store.commit(Batch([Forget(TENANT, Key(100)), Forget(TENANT, Key(100))]))
            assert await everything(store) == {}

    assert await everything(store) == {ProcessInstance: [200], ElementInstance: [201], Variable: [203]}


@pytest.mark.parametrize("is_ended", [False, True])
async def test_an_instance_of_another_tenant_or_one_that_runs_is_not_forgotten(*, is_ended: bool) -> None:
    store = MemoryStore(1)
    await insert(store, process_instance(100), variable(103, 100))
    if is_ended:
        await end(store, 100)

    await store.commit(Batch([Forget("other" if is_ended else TENANT, Key(100))]))

    assert await everything(store) == {ProcessInstance: [100], Variable: [103]}


async def test_the_instance_that_ended_first_leaves_with_all_its_rows() -> None:
    store = MemoryStore(1)
    for key in (100, 200):
        parts = (element_instance(key + 1, key), job(key + 2, key), variable(key + 3, key))
        await insert(store, process_instance(key), *parts, incident(key + 4, key))

    await end(store, 200, 100)

    expected = {ProcessInstance: [100], ElementInstance: [101], Job: [102], Variable: [103], Incident: [104]}
    assert expected == await everything(store)
    assert await store.get(Job, Key(202), tenant_id=TENANT) is None


async def test_a_deleted_decision_instance_takes_no_place() -> None:
    store = MemoryStore(2)
    for key in (10, 20):
        await insert(store, decision_instance(key))

    await store.commit(Batch([Delete(DecisionInstance, Key(20))]))
    await insert(store, decision_instance(30))

    assert await everything(store) == {DecisionInstance: [10, 30]}


async def test_so_many_decision_instances_stay_and_they_are_the_latest() -> None:
    store = MemoryStore(2)

    for key in (30, 10, 20):
        await insert(store, decision_instance(key))

    assert {DecisionInstance: [10, 20]} == await everything(store)


async def test_so_many_batch_operations_stay_that_have_ended_with_their_items() -> None:
    store = MemoryStore(1)
    for key in (10, 20, 30):
        await insert(store, batch_operation(key), batch_operation_item(key + 1, key))

    for key in (20, 10):
        await store.commit(Batch([Update(BatchOperation, Key(key), {"end_date": START})]))

    assert {BatchOperation: [10, 30], BatchOperationItem: [11, 31]} == await everything(store)


@pytest.mark.parametrize(
    ("actor_type", "key", "kept"),
    [("USER", 100, [1]), ("CLIENT", 100, []), ("USER", 300, [])],
    ids=["person", "client", "unknown process instance"],
)
async def test_what_persons_did_with_a_process_instance_stays_as_long_as_it(
    actor_type: str, key: int, kept: list[int]
) -> None:
    store = MemoryStore(1)
    await insert(store, process_instance(100), process_instance(200))
    entry = AuditEntry(
        tenant_id=TENANT,
        timestamp=START,
        operation_type="CANCEL",
        result=AuditResult.SUCCESS,
        actor_type=actor_type,
        actor_id="ada",
        entity_type="PROCESS_INSTANCE",
        process_instance_key=Key(key),
    )

    await store.commit(Batch(audit=[entry]))

    assert (await everything(store)).get(AuditEntry, []) == kept
    await end(store, 100, 200)
    assert await everything(store) == {ProcessInstance: [200]}


async def test_active_instances_are_not_bounded() -> None:
    store = MemoryStore(0)
    await insert(store, *map(process_instance, range(1, 6)))

    await end(store, 3)

    assert await found(store) == [1, 2, 4, 5]


async def test_an_instance_that_ends_twice_counts_once() -> None:
    store = MemoryStore(2)
    await insert(store, *map(process_instance, range(1, 4)))

    await end(store, 1, 2, 1, 2)

    assert await found(store) == [1, 2, 3]


async def test_an_instance_may_come_and_end_in_one_batch() -> None:
    store = MemoryStore(0)

    await store.commit(
        Batch([Insert(process_instance(1)), Update(ProcessInstance, Key(1), END), Insert(job(2, 1))])
    )

    assert await everything(store) == {}


async def test_a_late_change_of_an_instance_that_left_is_without_effect() -> None:
    store = MemoryStore(0)
    await insert(store, process_instance(1), incident(2, 1))
    await end(store, 1)

    await store.commit(Batch([Update(Incident, Key(2), {"state": "RESOLVED"})]))

    assert await everything(store) == {}


@given(st.lists(st.integers(1, 20), max_size=40), st.integers(0, 5))
async def test_so_many_finished_instances_stay_and_they_are_the_latest(
    endings: list[int], bound: int
) -> None:
    store = MemoryStore(bound)
    await insert(store, *map(process_instance, range(1, 21)), *(job(100 + key, key) for key in range(1, 21)))

    await end(store, *endings)

    ended = list(dict.fromkeys(endings))
    left = set(ended[: max(len(ended) - bound, 0)])
    expected = [key for key in range(1, 21) if key not in left]
    assert expected == await found(store)
    assert {ProcessInstance: expected, Job: [100 + key for key in expected]} == await everything(store)


@pytest.mark.parametrize(
    "faulty",
    [
        pytest.param(Insert(process_instance(1)), id="a key that is taken"),
        pytest.param(Insert(process_instance(2)), id="a key twice in one batch"),
        pytest.param(Update(ProcessInstance, Key(1), {"colour": "red"}), id="an unknown field"),
    ],
)
async def test_a_batch_with_a_fault_changes_nothing(faulty: Insert | Update) -> None:
    store = MemoryStore(10)
    await insert(store, process_instance(1))

    with pytest.raises(ValueError, match="ProcessInstance"):
        await store.commit(Batch([Insert(process_instance(2)), faulty]))

    assert {ProcessInstance: [1]} == await everything(store)


@pytest.mark.parametrize("is_searched_before", [False, True])
async def test_rows_are_found_by_an_index_whenever_they_came_and_changed(*, is_searched_before: bool) -> None:
    store = MemoryStore(10)

    async def instances_of(definition: int) -> list[int]:
        query = PROCESS_INSTANCES.query(equals(PROCESS_INSTANCES, "process_definition_key", definition))
        page = await store.search(ProcessInstance, query, tenant_id=TENANT)
        return [row.process_instance_key for row in page.items]

    await insert(store, *(process_instance(key, process_definition_key=Key(1)) for key in (10, 20, 30)))
    if is_searched_before:
        assert await instances_of(1) == [10, 20, 30]
    await store.commit(Batch([Update(ProcessInstance, Key(20), {"process_definition_key": Key(2)})]))
    await insert(store, process_instance(40, process_definition_key=Key(2)))

    assert (await instances_of(1), await instances_of(2)) == ([10, 30], [20, 40])
    await store.commit(Batch([Update(ProcessInstance, Key(10), {"process_definition_key": Key(2)})]))
    assert (await instances_of(1), await instances_of(2)) == ([30], [10, 20, 40])
