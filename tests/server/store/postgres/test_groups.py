"""A statistic means the same in PostgreSQL as in memory."""

from typing import cast

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from server.engine.keys import Key
from server.platform.postgres.pool import open_pool
from server.platform.query import (
    Clauses,
    Count,
    Different,
    FieldType,
    Interval,
    Latest,
    Related,
    Searchable,
    Statistic,
)
from server.platform.query.statistics import Group, Measure, Values
from server.store.entities import ElementInstance, ElementInstanceState, Entity, ProcessInstance
from server.store.memory import MemoryStore
from server.store.ports import Batch, Insert, Store
from server.store.postgres.reads import PostgresStore
from server.store.searchables import ELEMENT_INSTANCES, SEARCHABLES
from tests.server.store.durable import empty, write
from tests.server.store.postgres.queries import (
    conditions_of,
    rows_of,
    searches_by_variables,
    with_alternatives,
)
from tests.server.store.rows import TENANT

Asked = tuple[list[Entity], Statistic[Values], Clauses]


@st.composite
def statistics(draw: st.DrawFn) -> Asked:
    searchable: Searchable[Entity] = draw(st.sampled_from(list(SEARCHABLES.values())))
    conditions = st.lists(conditions_of(searchable), max_size=2).map(tuple)
    fields = sorted(searchable.fields.values(), key=lambda field: field.name)
    plain = st.sampled_from([field for field in fields if field.type is not FieldType.TEXTS])
    instants = [field for field in fields if field.type is FieldType.DATE_TIME]
    groups: st.SearchStrategy[Group] = st.sampled_from(fields)
    measures: st.SearchStrategy[Measure] = st.builds(Count, conditions) | st.builds(
        Different, plain, conditions
    )
    if instants:
        seconds = st.sampled_from([1, 60, 86_400])
        groups |= st.builds(Interval, st.sampled_from(instants), seconds)
        measures |= st.builds(Latest, st.sampled_from(instants), conditions)
    by = draw(st.lists(groups, max_size=3, unique=True))
    found = (Count(), *draw(st.lists(measures, max_size=3)))
    statistic = Statistic(_values, searchable.entity, tuple(by), found)
    clauses = draw(st.lists(with_alternatives(conditions_of(searchable)), max_size=2).map(tuple))
    return draw(rows_of(searchable)), statistic, clauses


@st.composite
def statistics_of_elements(draw: st.DrawFn) -> Asked:
    """Element instances of process instances that meet conditions, each where its process instance lies."""
    _, rows, query = draw(searches_by_variables())
    instances = [row for row in rows if isinstance(row, ProcessInstance)]
    keys = [row.process_instance_key for row in instances] or [Key(1)]
    elements = [
        msgspec.structs.replace(
            row, element_instance_key=Key(2 * row.element_instance_key + key % 2), process_instance_key=key
        )
        for row in draw(rows_of(ELEMENT_INSTANCES))
        if isinstance(row, ElementInstance)
        for key in [draw(st.sampled_from(keys))]
    ]
    field = ELEMENT_INSTANCES.fields["process_instance_key"]
    clauses = (Related(field, ProcessInstance, field.name, query.clauses, draw(st.booleans())),)
    statistic = Statistic(_values, ElementInstance, (ELEMENT_INSTANCES.fields["element_id"],), (Count(),))
    return [*rows, *(_ended(element) for element in elements)], statistic, clauses


def _ended(element: ElementInstance) -> ElementInstance:
    return msgspec.structs.replace(element, state=ElementInstanceState.COMPLETED)


def _values(*values: object) -> Values:
    return cast("Values", values)


async def answers(store: Store, statistic: Statistic[Values], clauses: Clauses) -> list[Values]:
    return sorted(await store.statistics(statistic, clauses, tenant_id=TENANT), key=repr)


@given(statistics() | statistics_of_elements())
async def test_every_statistic_is_that_of_the_store_in_memory(durable_dsn: str, asked: Asked) -> None:
    rows, statistic, clauses = asked
    memory = MemoryStore(max_finished_instances=1000)
    await memory.commit(Batch([Insert(row) for row in rows]))
    async with open_pool(durable_dsn, 1) as pool:
        await empty(pool)
        await write(pool, rows)

        found = await answers(PostgresStore(pool), statistic, clauses)

    assert await answers(memory, statistic, clauses) == found
