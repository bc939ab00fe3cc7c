"""A collection of rows in key order.

Rows that arrive in order are appended. Inserting, removing and finding rows elsewhere touches one short
chunk, so the cost hardly depends on the number of rows. A slice copies only its own rows.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain, islice
from typing import Any, Generic, TypeVar, overload

from server.platform.query.fields import Scalar

E = TypeVar("E")

_LONGEST_CHUNK = 1024


class Ordered(Sequence[E], Generic[E]):
    """A sorted sequence of rows with unique, constant keys."""

    __slots__ = ("_chunks", "_count", "_highest", "_key", "_starts")

    def __init__(self, key: Callable[[E], Any]) -> None:
        self._key = key
        self._chunks: list[list[E]] = []
        self._starts: list[int] | None = None
        self._count = 0
        # The highest key that was ever appended; its row may be gone.
        self._highest: Any = None

    def add(self, row: E) -> None:
        key, chunks = self._key(row), self._chunks
        if not chunks:
            chunks.append([row])
            self._highest = key
        elif key > self._highest:
            if len(chunks[-1]) < _LONGEST_CHUNK:
                chunks[-1].append(row)
            else:
                chunks.append([row])
            self._highest = key
        else:
            self._insert(row, key)
        self._starts = None
        self._count += 1

    def _insert(self, row: E, key: Scalar) -> None:
        index = self._chunk_of(key)
        chunk = self._chunks[index]
        insort(chunk, row, key=self._key)
        if len(chunk) > _LONGEST_CHUNK:
            half = len(chunk) // 2
            self._chunks.insert(index + 1, chunk[half:])
            del chunk[half:]

    def remove(self, row: E) -> int:
        """Remove a row of this sequence and return the number of remaining rows."""
        # Fast path: history is deleted oldest first.
        index = place = 0
        if self._chunks[0][0] is not row:
            key = self._key(row)
            index = self._chunk_of(key)
            place = bisect_left(self._chunks[index], key, key=self._key)
        chunk = self._chunks[index]
        del chunk[place]
        if not chunk:
            del self._chunks[index]
        self._starts = None
        self._count -= 1
        return self._count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[E]:
        return chain.from_iterable(self._chunks)

    @overload
    def __getitem__(self, index: int) -> E: ...
    @overload
    def __getitem__(self, index: slice) -> list[E]: ...
    def __getitem__(self, index: int | slice) -> E | list[E]:
        if isinstance(index, slice):
            start, stop, step = index.indices(self._count)
            return list(islice(self._from(start), max(stop - start, 0))) if step == 1 else list(self)[index]
        if not -self._count <= index < self._count:
            raise IndexError(index)
        return next(self._from(index % self._count))

    def _from(self, position: int) -> Iterator[E]:
        if self._starts is None:
            self._starts = list(accumulate(map(len, self._chunks), initial=0))
        index = bisect_right(self._starts, position) - 1
        chunks = islice(self._chunks, index, None)
        return islice(chain.from_iterable(chunks), position - self._starts[index], None)

    def _chunk_of(self, key: Scalar) -> int:
        """Return the index of the chunk for a key."""
        return max(bisect_right(self._chunks, key, key=self._first_key) - 1, 0)

    def _first_key(self, chunk: list[E]) -> Any:
        return self._key(chunk[0])
