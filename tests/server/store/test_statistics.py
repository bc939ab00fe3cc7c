"""How many instances of each element there are and were."""

from server.engine.keys import Key
from server.store.entities import ElementInstance, ElementInstanceState, ProcessInstance, ProcessInstanceState
from server.store.ports import Batch, ElementStatistics, Store, Update
from tests.server.store.rows import TENANT, element_instance, insert, process_instance

DEFINITION = Key(7)


async def test_the_instances_of_each_element_are_counted_by_what_became_of_them(store: Store) -> None:
    states = (
        ElementInstanceState.COMPLETED,
        ElementInstanceState.TERMINATED,
        ElementInstanceState.TERMINATED,
    )
    await insert(
        store,
        process_instance(1),
        element_instance(2, 1),
        element_instance(3, 1, has_incident=True, incident_key=Key(9)),
        *(element_instance(key, 1, state=state) for key, state in enumerate(states, 4)),
        element_instance(8, 1, element_id="START"),
    )

    found = await store.element_statistics(DEFINITION, tenant_id=TENANT)

    expected = [
        ElementStatistics("START", active=1, completed=0, canceled=0, incidents=0),
        ElementStatistics("charge", active=2, completed=1, canceled=2, incidents=1),
    ]
    assert expected == list(found)


async def test_elements_of_ended_process_instances_count(store: Store) -> None:
    await insert(store, process_instance(1), element_instance(2, 1))
    ended = (
        Update(ElementInstance, Key(2), {"state": ElementInstanceState.TERMINATED}),
        Update(ProcessInstance, Key(1), {"state": ProcessInstanceState.TERMINATED}),
    )

    await store.commit(Batch(list(ended)))  # type: ignore[attr-defined]  # stores of tests commit too

    expected = [ElementStatistics("charge", active=0, completed=0, canceled=1, incidents=0)]
    assert expected == list(await store.element_statistics(DEFINITION, tenant_id=TENANT))


async def test_other_definitions_and_tenants_are_left_out(store: Store) -> None:
    await insert(
        store,
        process_instance(1),
        element_instance(2, 1, process_definition_key=Key(8)),
        element_instance(3, 1, tenant_id="other"),
    )

    assert list(await store.element_statistics(DEFINITION, tenant_id=TENANT)) == []
