"""A search query and its result, as data."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Generic, TypeVar

from server.platform.query.clauses import Clauses
from server.platform.query.fields import Field, Scalar

E = TypeVar("E")

DEFAULT_LIMIT = 100
MAX_LIMIT = 500

Position = tuple[Scalar | None, ...]
"""The position of a row in an order: its value of each sort key."""


@dataclass(frozen=True, slots=True)
class SortKey:
    """One key of a sort order; missing values come last in both directions.

    Only the first `length` characters of a text are compared (None: all), because a position must fit into a
    cursor.
    """

    field: Field
    is_descending: bool = False
    length: int | None = None

    def reader(self) -> Callable[[object], Scalar | None]:
        """Return a function that reads the value by which this key compares a row."""
        read: Callable[[object], Scalar | None] = attrgetter(self.field.name)
        length = self.length
        if length is None:
            return read
        return lambda row: value[:length] if isinstance(value := read(row), str) else value


def position_reader(sort: Sequence[SortKey]) -> Callable[[object], Position]:
    """Return a function that reads a row's position in an order."""
    readers = [key.reader() for key in sort]
    return lambda row: tuple(read(row) for read in readers)


@dataclass(frozen=True, slots=True)
class Window:
    """The part of the ordered matches to return; at most one of offset, after and before is set.

    A limit of None means all matches and is only for the program's own queries.
    """

    limit: int | None = DEFAULT_LIMIT
    offset: int = 0
    after: Position | None = None
    before: Position | None = None


EVERYTHING = Window(limit=None)


@dataclass(frozen=True, slots=True)
class Query:
    """A query: all clauses must be true; the last sort key is the entity's key.

    Cursors are tied to the `sealed` clauses, or to all clauses when that is None. The other clauses may
    differ from page to page. With a `most_total`, a store may stop counting matches there. With `most_octets`,
    a page ends before a row beyond that amount of text, but not before its first one. A store may return only
    the first characters of texts, as many as `cut` says, for fields that are not sort keys beyond that length.
    """

    clauses: Clauses
    sort: tuple[SortKey, ...]
    window: Window = Window()
    sealed: Clauses | None = None
    most_total: int | None = None
    most_octets: int | None = None
    cut: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Page(Generic[E]):
    """A page of results; `total` counts all matches. The cursors are None if and only if the page is empty.

    `has_more_total` says that the count stopped at the query's `most_total`.
    """

    items: Sequence[E]
    total: int
    start_cursor: str | None = None
    end_cursor: str | None = None
    has_more_total: bool = False
