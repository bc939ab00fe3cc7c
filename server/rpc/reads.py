"""Reads of rows: one by its key, or a page of a search."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from gnomon.query.v1.page_pb2 import PageResponse
from server.engine.keys import Key
from server.platform.call import BOUNDED_TOTAL, Call
from server.platform.errors import NotFound
from server.platform.mapping import mapper
from server.platform.query import Condition, Page, Query, Searchable, parse
from server.store.ports import E, Store

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor

M = TypeVar("M", bound=Message)

MOST_TOTAL = 10_000
"""Matches that a page of the console counts at most."""

PAGE_OCTETS = 3 * 1024 * 1024
"""Text on a page at most, unless its first row has more: gRPC clients accept answers of 4 MiB by default."""


class Items(Protocol):
    """A repeated message field."""

    def add(self) -> Message: ...


class SearchResponse(Protocol):
    """A search response: matches, and the position of their page."""

    @property
    def items(self) -> Items: ...
    @property
    def page(self) -> PageResponse: ...


R = TypeVar("R", bound=Message)


@dataclass(frozen=True, slots=True)
class Shown(Generic[E]):
    """How an item differs from its row: it is a `kind`, which `of` makes of the row.

    Of the fields in `cut`, it needs only that number of characters.
    """

    kind: type[object]
    of: Callable[[E], object]
    cut: Mapping[str, int] = field(default_factory=dict)


async def search(
    store: Store,
    searchable: Searchable[E],
    request: Message,
    response_type: type[R],
    call: Call,
    *,
    also: Sequence[Condition] = (),
    changing: Sequence[Condition] = (),
    shown: Shown[E] | None = None,
) -> R:
    """Search the rows of the caller's tenant; `also` are conditions in addition to the request's filter.

    Conditions in `changing` may differ on the next page. Raises InvalidArgument. Without `shown`, the items
    are the rows; fields that exist only in filters (`is_latest_version`) stay unset in them.
    """
    query = bounded(_query(searchable, request, also, changing))
    query = replace(query, cut=_cut(searchable, query, response_type) | dict(shown.cut if shown else {}))
    if call.peer.is_edge and BOUNDED_TOTAL in call.metadata:
        query = replace(query, most_total=MOST_TOTAL)
    page = await store.search(searchable.entity, query, tenant_id=call.tenant_id)
    return response_of(page, searchable, response_type, call, shown=shown)


def bounded(query: Query) -> Query:
    """The same query with the most text that a caller gets on one page."""
    return replace(query, most_octets=PAGE_OCTETS)


def _cut(searchable: Searchable[object], query: Query, response_type: type[Message]) -> dict[str, int]:
    """Nothing of the texts that items do not show, unless the order needs them."""
    shown = {each.name for each in _item_type(response_type).fields}
    ordered = {key.field.name for key in query.sort}
    return dict.fromkeys(searchable.contents - shown - ordered, 0)


def _item_type(response_type: type[Message]) -> "Descriptor":
    return cast("Descriptor", response_type.DESCRIPTOR.fields_by_name["items"].message_type)


def response_of(
    page: Page[E],
    searchable: Searchable[E],
    response_type: type[R],
    call: Call,
    *,
    shown: Shown[E] | None = None,
) -> R:
    """The response with the items of a page. A caller that takes rows gets those instead of items."""
    kind: type[object] = searchable.entity
    rows: Iterable[object] = page.items
    if shown is not None:
        kind, rows = shown.kind, map(shown.of, page.items)
    response = response_type()
    answer = cast("SearchResponse", response)
    tell_page(answer.page, page)
    if call.rows is not None:
        call.rows.receive(kind, rows)
        return response
    item = GetMessageClass(_item_type(response_type))
    convert = mapper(kind, item, ignored=frozenset(searchable.derived))
    for row in rows:
        convert(row, answer.items.add)
    return response


def _query(
    searchable: Searchable[object],
    request: Message,
    also: Sequence[Condition],
    changing: Sequence[Condition],
) -> Query:
    asked = parse(searchable, request, also=also)
    return replace(asked, clauses=(*asked.clauses, *changing), sealed=asked.clauses)


def tell_page(message: PageResponse, page: Page[Any]) -> None:
    """Set the total and the cursors of a page."""
    message.total_items = page.total
    message.has_more_total_items = page.has_more_total
    if page.start_cursor is not None and page.end_cursor is not None:
        message.start_cursor, message.end_cursor = page.start_cursor, page.end_cursor


async def get(store: Store, entity: type[E], key: int, call: Call, message_type: type[M]) -> M:
    """One row of the caller's tenant as a message; raises NotFound."""
    return mapper(entity, message_type)(await found(store, entity, key, call))


async def found(store: Store, entity: type[E], key: int, call: Call) -> E:
    """One row of the caller's tenant; raises NotFound."""
    row = await store.get(entity, Key(key), tenant_id=call.tenant_id)
    if row is None:
        raise NotFound(f"there is no {_kind(entity)} with key {key}")
    return row


def _kind(entity: type) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", " ", entity.__name__).lower()
