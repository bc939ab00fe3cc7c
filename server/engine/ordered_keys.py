"""Keys in ascending order, each with a value, with iteration from any key."""

from bisect import bisect_right, insort
from collections.abc import Iterator
from typing import Any, Final, Generic, Protocol, TypeVar

K = TypeVar("K", bound="_Ordered")
V = TypeVar("V")

KEPT: Final = 32
"""The index may always keep this many entries of removed keys."""


class _Ordered(Protocol):
    def __lt__(self, other: Any, /) -> bool: ...  # of its own type


class OrderedKeys(Generic[K, V]):
    """A sorted mapping. Adding a key above all others costs constant time, removing one does so on average.

    The entry of a removed key stays in the index until half of the index is empty.
    """

    __slots__ = ("_places", "_values")

    def __init__(self) -> None:
        self._places: list[K] = []
        self._values: dict[K, V] = {}

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: K) -> bool:
        return key in self._values

    def __getitem__(self, key: K) -> V:
        return self._values[key]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OrderedKeys) and self._values == other._values

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __repr__(self) -> str:
        return f"OrderedKeys({self._values!r})"

    def put(self, key: K, value: V) -> None:
        """Add a key, or replace its value."""
        if key not in self._values:
            self._give_place(key)
        self._values[key] = value

    def remove(self, key: K) -> None:
        del self._values[key]
        if len(self._places) > 2 * len(self._values) + KEPT:
            self._places = sorted(self._values)

    def after(self, key: K | None = None) -> Iterator[K]:
        """The keys after this one, or all; no key may be added or removed during the iteration."""
        first = 0 if key is None else bisect_right(self._places, key)
        for index in range(first, len(self._places)):
            if self._places[index] in self._values:
                yield self._places[index]

    def _give_place(self, key: K) -> None:
        places = self._places
        if not places or places[-1] < key:
            places.append(key)
            return
        index = bisect_right(places, key)
        if not index or places[index - 1] != key:
            insort(places, key)
