"""A search as data, and its answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Generic, TypeVar

from server.platform.query.clauses import Clauses
from server.platform.query.fields import Field, Scalar

E = TypeVar("E")

DEFAULT_LIMIT = 100
MAX_LIMIT = 500

Position = tuple[Scalar | None, ...]
"""Where a row stands in an order: its value of each sort key."""


@dataclass(frozen=True, slots=True)
class SortKey:
    """Missing values come last in both directions.

    Of a text only the first `length` characters count, None meaning all: a position has to fit into a cursor.
    """

    field: Field
    is_descending: bool = False
    length: int | None = None

    def reader(self) -> Callable[[object], Scalar | None]:
        """Make what gives a row's value as this key compares it."""
        read: Callable[[object], Scalar | None] = attrgetter(self.field.name)
        length = self.length
        if length is None:
            return read
        return lambda row: value[:length] if isinstance(value := read(row), str) else value


def position_reader(sort: Sequence[SortKey]) -> Callable[[object], Position]:
    """Make what gives a row's place in an order."""
    readers = [key.reader() for key in sort]
    return lambda row: tuple(read(row) for read in readers)


@dataclass(frozen=True, slots=True)
class Window:
    """Which of the ordered matches to answer with; at most one of offset, after and before is given.

    A limit of None stands for all and is only for the program's own reads.
    """

    limit: int | None = DEFAULT_LIMIT
    offset: int = 0
    after: Position | None = None
    before: Position | None = None


EVERYTHING = Window(limit=None)


@dataclass(frozen=True, slots=True)
class Query:
    """All clauses have to hold; the last sort key is the entity's key.

    Cursors belong to the `sealed` clauses, or to all when it is None: the others may change from page to page.
    """

    clauses: Clauses
    sort: tuple[SortKey, ...]
    window: Window = Window()
    sealed: Clauses | None = None


@dataclass(frozen=True, slots=True)
class Page(Generic[E]):
    """`total` counts every match; the cursors are None exactly when there is no item."""

    items: Sequence[E]
    total: int
    start_cursor: str | None = None
    end_cursor: str | None = None
