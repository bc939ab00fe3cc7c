"""Answers of searches over the process API."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Generic, TypeVar

from google.protobuf.message import Message

from identity.foundation.tenants import Tenant
from server.platform.query import Page, Searchable, evaluate, parse

E = TypeVar("E")
R = TypeVar("R", bound=Message)


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
