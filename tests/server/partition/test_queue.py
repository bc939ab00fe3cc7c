from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import zip_longest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.partition.queue import COMMANDS_PER_SLICE, FairQueue
from server.platform.errors import ResourceExhausted


@dataclass(frozen=True)
class TenantEntry:
    tenant_id: str
    number: int
    octets: int = 0
    is_slice: bool = False


tenants = st.sampled_from(["a", "b", "c", "d"])


def queued(*tenant_ids: str, most: int = 1_000, most_of_one: int = 1_000) -> FairQueue[TenantEntry]:
    queue: FairQueue[TenantEntry] = FairQueue(most, most_of_one)
    for number, tenant_id in enumerate(tenant_ids):
        queue.put(TenantEntry(tenant_id, number))
    return queue


@given(st.lists(tenants, max_size=50))
def test_the_tenants_that_wait_are_served_in_turns(tenant_ids: list[str]) -> None:
    """The first of each in the order in which they came, then the second of each, and so on."""
    lines: defaultdict[str, list[TenantEntry]] = defaultdict(list)
    for number, tenant_id in enumerate(tenant_ids):
        lines[tenant_id].append(TenantEntry(tenant_id, number))

    taken = queued(*tenant_ids).clear()

    rounds = zip_longest(*lines.values())
    assert taken == [entry for each in rounds for entry in each if entry is not None]


@given(st.lists(st.one_of(tenants, st.none()), max_size=100))
def test_whoever_waits_is_passed_by_each_other_tenant_once_at_most(moves: list[str | None]) -> None:
    """Commands come (of a tenant) and go (None): nothing is lost, a tenant's own order is kept, nobody waits for long."""
    queue = queued()
    waiting: list[TenantEntry] = []
    passed: defaultdict[TenantEntry, Counter[str]] = defaultdict(Counter)
    for number, tenant_id in enumerate(moves):
        if tenant_id is not None:
            queue.put(TenantEntry(tenant_id, number))
            waiting.append(TenantEntry(tenant_id, number))
        elif waiting:
            taken = queue.take()
            waiting.remove(taken)
            own = [entry for entry in waiting if entry.tenant_id == taken.tenant_id]
            assert all(taken.number < entry.number for entry in own)
            for tenant in {entry.tenant_id for entry in waiting} - {taken.tenant_id}:
                first = next(entry for entry in waiting if entry.tenant_id == tenant)
                passed[first][taken.tenant_id] += 1
                assert passed[first][taken.tenant_id] <= 1
    assert len(queue) == len(waiting)
    assert Counter(queue.clear()) == Counter(waiting)


def test_a_thousand_commands_of_one_tenant_delay_those_of_another_by_one() -> None:
    queue = queued(*["busy"] * 999, "other")

    assert [queue.take().tenant_id for _ in range(3)] == ["busy", "other", "busy"]


def test_so_many_wait_and_no_more() -> None:
    queue = queued("a", "b", most=2)

    with pytest.raises(ResourceExhausted, match="2 commands wait already"):
        queue.put(TenantEntry("c", 3))

    queue.take()
    queue.put(TenantEntry("c", 3))
    assert len(queue) == 2


def test_a_tenant_does_not_take_the_room_of_others() -> None:
    queue = queued("busy", "busy", most=4, most_of_one=2)

    with pytest.raises(ResourceExhausted, match="2 commands of the tenant wait already"):
        queue.put(TenantEntry("busy", 3))

    queue.put(TenantEntry("other", 4))
    queue.take()
    queue.put(TenantEntry("busy", 5))
    assert Counter(entry.tenant_id for entry in queue.clear()) == {"busy": 2, "other": 1}


def test_so_many_octets_wait_and_no_more() -> None:
    queue: FairQueue[TenantEntry] = FairQueue(10, 10, most_octets=100)
    for tenant_id in ("a", "b"):
        queue.put(TenantEntry(tenant_id, 1, octets=50))

    with pytest.raises(ResourceExhausted, match="commands with 100 bytes wait already"):
        queue.put(TenantEntry("c", 2, octets=1))

    queue.put(TenantEntry("c", 3))
    queue.put_back([queue.take()])
    queue.take()
    queue.put(TenantEntry("c", 4, octets=50))
    assert [entry.number for entry in queue.clear()] == [1, 3, 4]


def test_the_octets_of_a_tenant_take_no_room_of_others_and_a_larger_entry_waits_alone() -> None:
    queue: FairQueue[TenantEntry] = FairQueue(10, 10, most_octets=1_000, most_octets_of_one=100)
    queue.put(TenantEntry("large", 1, octets=150))

    with pytest.raises(ResourceExhausted, match="commands of the tenant with 150 bytes wait already"):
        queue.put(TenantEntry("large", 2, octets=1))

    queue.put(TenantEntry("other", 3, octets=100))
    queue.take()
    queue.put(TenantEntry("large", 4, octets=100))
    assert [entry.number for entry in queue.clear()] == [3, 4]


def test_what_could_not_be_served_is_the_next_of_its_tenant() -> None:
    queue = queued("busy", "busy", "busy", "other")
    taken = [queue.take() for _ in range(3)]

    queue.put_back(taken[1:])

    assert [queue.take().number for _ in range(3)] == [3, 1, 2]


def test_what_is_bounded_elsewhere_waits_in_the_line_of_its_tenant() -> None:
    queue = queued("busy", most=1, most_of_one=1)

    queue.add(TenantEntry("busy", 7))
    queue.add(TenantEntry("other", 8))

    assert [queue.take().number for _ in range(3)] == [0, 8, 7]


def test_what_is_urgent_goes_first_and_always_has_room() -> None:
    queue = queued("a", "b", most=2)

    queue.put_urgent(TenantEntry("c", 7))
    queue.put_urgent(TenantEntry("c", 8))

    assert [entry.number for entry in queue.clear()] == [7, 8, 0, 1]


def test_what_had_its_turn_already_goes_before_all_else_in_its_order() -> None:
    queue = queued("a")
    queue.put_urgent(TenantEntry("c", 7))

    queue.put_first([TenantEntry("b", 5), TenantEntry("a", 6)])

    assert [entry.number for entry in queue.clear()] == [5, 6, 7, 0]
    assert len(queue) == 0


def test_what_waits_is_counted_by_tenant() -> None:
    queue = queued("a", "b", "a")
    queue.put_urgent(TenantEntry("c", 7))

    assert queue.counts() == {"a": 2, "b": 1, "": 1}


def with_slices(commands: int, slices: int) -> FairQueue[TenantEntry]:
    """Slices of postponed work, with numbers from a hundred, that wait before the commands come."""
    queue = queued()
    for number in range(slices):
        queue.add(TenantEntry("busy", 100 + number, is_slice=True))
    for number in range(commands):
        queue.put(TenantEntry("busy", number))
    return queue


def test_a_command_does_not_wait_for_the_slices_of_its_tenant() -> None:
    queue = with_slices(commands=2, slices=3)

    assert [entry.number for entry in queue.clear()] == [0, 1, 100, 101, 102]


def test_slices_go_on_while_commands_keep_waiting() -> None:
    queue = with_slices(commands=40, slices=2)

    taken = [entry.number for entry in queue.clear()]

    assert taken.index(100) == COMMANDS_PER_SLICE
    assert taken.index(101) == 2 * COMMANDS_PER_SLICE + 1


def test_slices_go_on_although_what_is_taken_is_put_back_except_the_first() -> None:
    queue = with_slices(commands=40, slices=2)
    served = []

    for number in range(COMMANDS_PER_SLICE + 1):
        queue.put(TenantEntry("busy", 40 + number))
        first, *others = queue.clear()
        served.append(first)
        queue.put_back(others)

    assert served[-1].is_slice
    assert not any(entry.is_slice for entry in served[:-1])


def test_slices_take_no_room_of_the_commands_of_their_tenant() -> None:
    queue: FairQueue[TenantEntry] = FairQueue(10, 1)
    queue.add(TenantEntry("busy", 100, is_slice=True))

    queue.put(TenantEntry("busy", 0))

    assert queue.counts() == {"busy": 2}
