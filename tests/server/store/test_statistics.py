"""Statistics mean the same in every store."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

import pytest

from server.engine.keys import Key
from server.platform.query import (
    MOST_GROUPS,
    Clause,
    Count,
    Different,
    Interval,
    Latest,
    Related,
    Statistic,
    equals,
)
from server.store.entities import (
    ElementInstance,
    ElementInstanceState,
    ProcessInstance,
    ProcessInstanceState,
    Variable,
)
from server.store.ports import Batch, Store, Update
from server.store.searchables import ELEMENT_INSTANCES, PROCESS_INSTANCES, VARIABLES
from server.store.statistics import (
    ELEMENTS,
    ELEMENTS_WITH_INCIDENTS,
    ERRORS,
    TAKEN_SEQUENCE_FLOWS,
    Amount,
    ElementStatistics,
    ElementWithIncidents,
    Error,
    TakenSequenceFlow,
)
from tests.server.store.rows import (
    START,
    TENANT,
    element_instance,
    incident,
    insert,
    process_instance,
    variable,
)

S = TypeVar("S")

DEFINITION = Key(7)
MINUTE = timedelta(minutes=1)
OF_DEFINITION = equals(ELEMENT_INSTANCES, "process_definition_key", DEFINITION)


async def counted(store: Store, statistic: Statistic[S], *clauses: Clause) -> Sequence[S]:
    """In one order always."""
    return sorted(await store.statistics(statistic, clauses, tenant_id=TENANT), key=repr)


async def end(store: Store, process_instance_key: int, *changes: Update) -> None:
    ended = {"state": ProcessInstanceState.COMPLETED, "end_date": START}
    batch = Batch([*changes, Update(ProcessInstance, Key(process_instance_key), ended)])
    await store.commit(batch)  # type: ignore[attr-defined]  # stores of tests commit too


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

    found = await counted(store, ELEMENTS, OF_DEFINITION)

    assert found == [
        ElementStatistics("START", active=1, completed=0, canceled=0, incidents=0),
        ElementStatistics("charge", active=1, completed=1, canceled=2, incidents=1),
    ]


async def test_elements_of_ended_process_instances_count(store: Store) -> None:
    await insert(store, process_instance(1), element_instance(2, 1))

    await end(store, 1, Update(ElementInstance, Key(2), {"state": ElementInstanceState.TERMINATED}))

    expected = [ElementStatistics("charge", active=0, completed=0, canceled=1, incidents=0)]
    assert expected == await counted(store, ELEMENTS, OF_DEFINITION)


async def test_other_definitions_and_tenants_are_left_out(store: Store) -> None:
    await insert(
        store,
        process_instance(1),
        element_instance(2, 1, process_definition_key=Key(8)),
        element_instance(3, 1, tenant_id="other"),
    )

    assert await counted(store, ELEMENTS, OF_DEFINITION) == []


async def test_a_list_puts_its_row_into_the_group_of_each_item(store: Store) -> None:
    await insert(
        store,
        process_instance(1),
        element_instance(2, 1, sequence_flow_ids=("a", "b")),
        element_instance(3, 1, sequence_flow_ids=("b",)),
        element_instance(4, 1),
    )

    found = await counted(
        store, TAKEN_SEQUENCE_FLOWS, equals(ELEMENT_INSTANCES, "process_instance_key", Key(1))
    )

    assert found == [TakenSequenceFlow("a", elements=1), TakenSequenceFlow("b", elements=2)]


async def test_texts_that_no_index_holds_are_groups_too(store: Store) -> None:
    long = "e" * 300
    await insert(store, process_instance(1), element_instance(2, 1, element_id=long), element_instance(3, 1))

    assert [element.element_id for element in await counted(store, ELEMENTS)] == ["charge", long]


async def test_different_values_are_counted_once(store: Store) -> None:
    await insert(
        store, *(process_instance(key) for key in (1, 2)), incident(3, 1), incident(4, 1), incident(5, 2)
    )

    assert await counted(store, ERRORS) == [Error("card declined", instances=2)]
    once = [ElementWithIncidents(Key(key), incidents=1) for key in (4, 5, 6)]
    assert await counted(store, ELEMENTS_WITH_INCIDENTS) == once


@dataclass(frozen=True, slots=True)
class Begun:
    time: datetime
    number: int
    last: datetime | None
    different: int


async def test_an_interval_begins_where_its_length_divides_time(store: Store) -> None:
    field = PROCESS_INSTANCES.fields["start_date"]
    is_second = equals(PROCESS_INSTANCES, "process_definition_version", 2)
    statistic = Statistic(
        Begun,
        ProcessInstance,
        (Interval(field, 120),),
        (Count(), Latest(field, (is_second,)), Different(field, (is_second,))),
    )
    starts = [START + MINUTE, START + 1.5 * MINUTE, START + 2 * MINUTE]
    versions = (2, 2, 1)
    rows = [
        process_instance(key, start_date=start, process_definition_version=version)
        for key, (start, version) in enumerate(zip(starts, versions, strict=True), 1)
    ]
    await insert(store, *rows)

    found = await counted(store, statistic)

    assert found == [Begun(START, 2, starts[1], 2), Begun(START + 2 * MINUTE, 1, None, 0)]


async def test_without_groups_all_rows_are_counted_together(store: Store) -> None:
    statistic = Statistic.of(Amount, PROCESS_INSTANCES, by=(), measures={"number": Count()})
    assert await counted(store, statistic) == []

    await insert(store, process_instance(1), process_instance(2))

    assert await counted(store, statistic) == [Amount(2)]


async def test_related_rows_may_ask_for_rows_of_their_own(store: Store) -> None:
    await insert(
        store,
        *(process_instance(key) for key in (1, 2)),
        *(element_instance(10 + key, key) for key in (1, 2)),
        variable(20, 2, name="vip"),
    )
    of_variables = Related(
        PROCESS_INSTANCES.key, Variable, "process_instance_key", (equals(VARIABLES, "name", "vip"),)
    )
    field = ELEMENT_INSTANCES.fields["process_instance_key"]

    found = await counted(store, ELEMENTS, Related(field, ProcessInstance, field.name, (of_variables,)))

    assert [element.active for element in found] == [1]


async def test_of_too_many_groups_those_with_the_most_are_given(store: Store) -> None:
    rows = [
        element_instance(key, 1, element_id=f"e{key}", state="COMPLETED") for key in range(2, MOST_GROUPS + 3)
    ]
    await insert(store, process_instance(1), *rows, element_instance(20_000, 1, element_id="most"))

    found = await store.statistics(ELEMENTS, tenant_id=TENANT)

    assert len(found) == MOST_GROUPS
    assert "most" in {element.element_id for element in found}


def test_a_statistic_has_an_answer_with_its_fields() -> None:
    with pytest.raises(TypeError, match=r"Amount has .*number.*, expected"):
        Statistic.of(Amount, PROCESS_INSTANCES, by=(), measures={"sum": Count()})
