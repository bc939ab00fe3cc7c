"""Answers of searches over the process API."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from google.protobuf.message import Message

from identity.foundation.tenants import Tenant
from server.platform.query import EVERYTHING, Condition, Page, Query, Searchable, evaluate, parse
from server.platform.query.cursor import cursors

E = TypeVar("E")
R = TypeVar("R", bound=Message)


class StoredSearch(Generic[E]):
    """A search over records, of which a tenant may have many."""

    def __init__(self, searchable: Searchable[E], message: Callable[[E], Message]) -> None:
        self._searchable = searchable
        self._message = message

    def over(self, found: Callable[[Tenant, Query], Awaitable[Page[E]]]) -> Callable[..., Awaitable[Message]]:
        """Return the operation that searches the records of a tenant."""

        async def search(tenant: Tenant, request: Message, response: type[Message]) -> Message:
            return self.answer(await found(tenant, self.query(request)), response)

        return search

    def query(self, request: Message, *also: Condition) -> Query:
        """Raises InvalidArgument."""
        return parse(self._searchable, request, also=also)

    def answer(self, page: Page[E], response: type[R]) -> R:
        return response_of(page, self._message, response)


async def found_with(few: Iterable[E], query: Query, found: Callable[[Query], Awaitable[Page[E]]]) -> Page[E]:
    """Return the page of a search over records and a few rows that have none, at the places of their order."""
    window, rows = query.window, _by_key(few, query)
    own = evaluate(rows, replace(query, window=EVERYTHING)).items
    # Before the page are at most as many records less as there are rows.
    skipped = max(window.offset - len(own), 0)
    wider = replace(window, offset=skipped, limit=None if window.limit is None else window.limit + len(own))
    kept = await found(replace(query, window=wider))
    total = kept.total + len(own)
    if window.after is not None or window.before is not None:
        return replace(evaluate(_by_key((*rows, *kept.items), query), query), total=total)
    merged = evaluate(_by_key((*own, *kept.items), query), replace(query, window=EVERYTHING)).items
    if skipped and kept.items:
        skipped += merged.index(kept.items[0])
        merged = merged[merged.index(kept.items[0]) :]
    begin = window.offset - skipped
    items = merged[begin:][: window.limit] if kept.items or not skipped else []
    return Page(items, total, *cursors(query, items))


def _by_key(rows: Iterable[E], query: Query) -> Sequence[E]:
    name = query.sort[-1].field.name
    return sorted(rows, key=lambda row: str(getattr(row, name)))


class InMemorySearch(Generic[E]):
    """A search over rows in memory, in any order, because they are few."""

    def __init__(self, searchable: Searchable[E], message: Callable[[E], Message]) -> None:
        self._searchable = searchable
        self._message = message

    def over(self, rows: Callable[[Tenant], Awaitable[Iterable[E]]]) -> Callable[..., Awaitable[Message]]:
        """Return the operation that searches the rows of a tenant."""

        async def search(tenant: Tenant, request: Message, response: type[Message]) -> Message:
            return self.answer(await rows(tenant), request, response)

        return search

    def answer(self, rows: Iterable[E], request: Message, response: type[R]) -> R:
        """Raises InvalidArgument."""
        query = parse(self._searchable, request)
        page = evaluate(self._ordered(rows), query)
        return response_of(page, self._message, response)

    def _ordered(self, rows: Iterable[E]) -> Sequence[E]:
        name = self._searchable.key.name
        return sorted(rows, key=lambda row: str(getattr(row, name)))


def response_of(page: Page[E], message: Callable[[E], Message], response: type[R]) -> R:
    """Return the response with the items of a page, and the position of the page."""
    cursors = {"start_cursor": page.start_cursor, "end_cursor": page.end_cursor} if page.items else {}
    return response(items=map(message, page.items), page={"total_items": page.total, **cursors})
