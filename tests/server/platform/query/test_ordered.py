from bisect import bisect_left
from operator import neg

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.platform.query import Ordered
from server.platform.query.ordered import _LONGEST_CHUNK

bounds = st.none() | st.integers(-60, 60)


def ordered(rows: list[int]) -> Ordered[int]:
    found: Ordered[int] = Ordered(neg)
    for row in rows:
        found.add(row)
    return found


@given(st.lists(st.integers(0, 50), unique=True), st.sets(st.integers(0, 50)), bounds, bounds)
def test_rows_are_a_sequence_in_the_order_of_their_key(
    rows: list[int], gone: set[int], start: int | None, stop: int | None
) -> None:
    found = ordered(rows)

    for row in gone.intersection(rows):
        found.remove(row)

    expected = sorted(set(rows) - gone, reverse=True)
    assert expected == list(found)
    assert len(expected) == len(found)
    assert expected[start:stop] == found[start:stop]
    assert expected[::-1] == found[::-1]
    assert expected == [found[index] for index in range(len(found))]


@pytest.mark.parametrize("step", [1, -1], ids=["ascending", "descending"])
def test_many_rows_stay_in_order_in_either_direction(step: int) -> None:
    rows = list(range(5 * _LONGEST_CHUNK))

    found = ordered(rows[::step])

    assert rows[::-1] == list(found)
    assert rows[::-1][3000:3100] == found[3000:3100]
    assert bisect_left(found, -17, key=neg) == len(rows) - 18


def test_removing_everything_leaves_room_for_more() -> None:
    rows = list(range(3 * _LONGEST_CHUNK))
    found = ordered(rows)

    for row in rows:
        found.remove(row)
    found.add(7)

    assert list(found) == [7]


@pytest.mark.parametrize("index", [2, -3])
def test_an_index_beyond_the_ends_is_an_error(index: int) -> None:
    with pytest.raises(IndexError):
        ordered([1, 2])[index]
