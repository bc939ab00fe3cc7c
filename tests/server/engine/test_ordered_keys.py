from hypothesis import given
from hypothesis import strategies as st

from server.engine.ordered_keys import KEPT, OrderedKeys

numbers = st.integers(0, 40)


@given(st.lists(st.tuples(st.booleans(), numbers), max_size=300), numbers)
def test_keys_are_in_order_whatever_was_added_and_removed(
    changes: list[tuple[bool, int]], behind: int
) -> None:
    keys: OrderedKeys[int, int] = OrderedKeys()
    expected: dict[int, int] = {}

    for value, (is_added, key) in enumerate(changes):
        if is_added:
            keys.put(key, value)
            expected[key] = value
        elif key in keys:
            keys.remove(key)
            del expected[key]

    assert list(keys.after()) == sorted(expected)
    assert list(keys.after(behind)) == [key for key in sorted(expected) if key > behind]
    assert {key: keys[key] for key in keys.after()} == expected
    assert len(keys) == len(expected)


def test_keys_are_equal_whatever_was_removed_before() -> None:
    one: OrderedKeys[int, str] = OrderedKeys()
    other: OrderedKeys[int, str] = OrderedKeys()
    for key in range(10):
        one.put(key, "a")
    for key in range(9):
        one.remove(key)
    other.put(9, "a")

    assert one == other

    other.put(9, "b")
    assert one != other


def test_places_of_removed_keys_are_given_back() -> None:
    keys: OrderedKeys[int, None] = OrderedKeys()
    for key in range(10_000):
        keys.put(key, None)
    for key in range(9_990):
        keys.remove(key)

    assert len(keys._places) <= 2 * 10 + KEPT  # noqa: SLF001  # memory has no other sign
    assert list(keys.after()) == list(range(9_990, 10_000))
