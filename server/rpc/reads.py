"""Reads of rows: one by its key, or a page of a search."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from gnomon.query.v1.page_pb2 import PageResponse
from server.engine.keys import Key
from server.platform.call import Call
from server.platform.errors import NotFound
from server.platform.mapping import mapper
from server.platform.query import Condition, Page, Query, Searchable, parse
from server.store.ports import E, Store

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor

M = TypeVar("M", bound=Message)


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


async def search(
    store: Store,
    searchable: Searchable[E],
    request: Message,
    response_type: type[R],
    call: Call,
    *,
    also: Sequence[Condition] = (),
    changing: Sequence[Condition] = (),
) -> R:
    """Search the rows of the caller's tenant; `also` are conditions in addition to the request's filter.

    Conditions in `changing` may differ on the next page. Raises InvalidArgument. Fields that exist only in
    filters (`is_truncated`) stay unset in the items. A caller that takes rows gets those instead of items.
    """
    page = await _page(store, _query(searchable, request, also, changing), searchable, call)
    if call.rows is None:
        return _response(searchable, response_type, page)
    call.rows.receive(searchable.entity, page.items)
    response = response_type()
    tell_page(cast("SearchResponse", response).page, page)
    return response


async def search_messages(
    store: Store,
    searchable: Searchable[E],
    request: Message,
    response_type: type[R],
    call: Call,
    *,
    also: Sequence[Condition] = (),
) -> R:
    """Like `search`, for servicers that change the items: the response has them as messages."""
    return _response(
        searchable,
        response_type,
        await _page(store, _query(searchable, request, also), searchable, call),
    )


def _query(
    searchable: Searchable[object],
    request: Message,
    also: Sequence[Condition],
    changing: Sequence[Condition] = (),
) -> Query:
    asked = parse(searchable, request, also=also)
    return replace(asked, clauses=(*asked.clauses, *changing), sealed=asked.clauses)


async def _page(store: Store, query: Query, searchable: Searchable[E], call: Call) -> Page[E]:
    return await store.search(searchable.entity, query, tenant_id=call.tenant_id)


def _response(searchable: Searchable[E], response_type: type[R], page: Page[E]) -> R:
    response = response_type()
    answer = cast("SearchResponse", response)
    item = GetMessageClass(cast("Descriptor", response_type.DESCRIPTOR.fields_by_name["items"].message_type))
    convert = mapper(searchable.entity, item, ignored=frozenset(searchable.derived))
    for row in page.items:
        convert(row, answer.items.add)
    tell_page(answer.page, page)
    return response


def tell_page(message: PageResponse, page: Page[Any]) -> None:
    """Set the total and the cursors of a page."""
    message.total_items = page.total
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
