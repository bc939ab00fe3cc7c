"""From what the database holds of a partition to the partition as it was."""

from collections import Counter
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass

from server.engine import State
from server.engine.apply import apply
from server.engine.documents import unpack
from server.engine.keys import Key
from server.partition.due import Due
from server.partition.turn import definition_of
from server.platform import collector
from server.store.postgres.leases import Lease

Documents = AsyncIterator[Iterable[tuple[Key, bytes]]]


@dataclass(frozen=True, slots=True)
class Recovered:
    """`active` counts the process instances of each tenant."""

    state: State
    due: Due
    active: Counter[str]


async def recovered(
    lease: Lease, definitions: Iterable[bytes], documents: Documents, most_loaded: int
) -> Recovered:
    """`documents` come in chunks; `most_loaded` process instances stay in memory, the youngest."""
    state, due, active = State(lease.partition_id), Due(), Counter[str]()
    state.last_key = max(state.last_key, lease.last_key)
    for content in definitions:
        apply(state, definition_of(content))
    with collector.paused():
        async for chunk in documents:
            for _, content in chunk:
                instance = unpack(content)
                state.take_in(instance)
                due.adopt(instance)
                active[instance.head.tenant_id] += 1
            _shrink(state, most_loaded)
        state.order_offers()
    return Recovered(state, due, active)


def _shrink(state: State, most: int) -> None:
    for key in list(state.instances)[: max(len(state.instances) - most, 0)]:
        state.evict(key)
