"""Any sequence of commits leaves the same rows in PostgreSQL as in memory."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from server.store.entities import AuditEntry
from server.store.memory import MemoryStore
from server.store.ports import Batch, Change, Delete, Insert, Store, Update
from server.store.searchables import SEARCHABLES
from tests.server.store.postgres.queries import rows_of
from tests.server.store.rows import TENANT, commit

NewStore = Callable[[], AbstractAsyncContextManager[Store]]

CHANGED = [searchable for entity, searchable in SEARCHABLES.items() if entity is not AuditEntry]
KEYS = st.integers(1, 5)


@st.composite
def changes(draw: st.DrawFn) -> Change:
    """An insert, an update of some fields or a deletion, of few rows, so that they meet."""
    searchable = draw(st.sampled_from(CHANGED))
    key = draw(KEYS)
    row = draw(rows_of(searchable).filter(bool))[0]
    kind = draw(st.sampled_from([Insert, Insert, Update, Update, Delete]))
    if kind is Delete:
        return Delete(searchable.entity, key)
    if kind is Insert:
        return Insert(msgspec.structs.replace(row, **{searchable.key.name: key, "tenant_id": TENANT}))
    fixed = {searchable.key.name, "tenant_id", "partition_id"}
    names = set(searchable.entity.__struct_fields__) - fixed
    changed = draw(st.sets(st.sampled_from(sorted(names)), max_size=5))
    return Update(searchable.entity, key, {name: getattr(row, name) for name in changed})


async def outcome(store: Store, batch: Batch) -> str:
    try:
        await commit(store, batch)
    except ValueError:
        return "refused"
    return "committed"


@given(st.lists(st.lists(changes(), max_size=8).map(Batch), max_size=4))
async def test_batches_have_the_same_outcome_and_leave_the_same_rows_as_in_memory(
    in_postgres: NewStore, plan: list[Batch]
) -> None:
    memory = MemoryStore(max_finished_instances=1000)
    async with in_postgres() as durable:
        for batch in plan:
            # The store in memory keeps the rows that it is given, and changes them.
            assert await outcome(durable, batch) == await outcome(memory, batch)

        for searchable in CHANGED:
            found = await durable.search(searchable.entity, searchable.query(), tenant_id=TENANT)
            expected = await memory.search(searchable.entity, searchable.query(), tenant_id=TENANT)
            assert list(expected.items) == list(found.items)
