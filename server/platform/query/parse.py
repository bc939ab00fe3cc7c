"""Converts a request message with filter, sort and page into a query.

The module validates everything itself, in addition to the message's rules: fields exist, numbers are within
bounds, cursors belong to the query.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from google.protobuf.message import Message

from gnomon.query.v1 import page_pb2
from server.platform.errors import InvalidArgument
from server.platform.query.clauses import Clauses
from server.platform.query.conditions import Condition
from server.platform.query.cursor import position_of
from server.platform.query.fields import FieldType
from server.platform.query.filters import filter_clauses, selecting_clauses
from server.platform.query.model import DEFAULT_LIMIT, MAX_LIMIT, Position, Query, SortKey, Window
from server.platform.query.searchable import Searchable

_LARGEST_OFFSET = (1 << 31) - 1
_CAPITAL = re.compile("[A-Z]")


def parse(
    searchable: Searchable[object],
    request: Message,
    *,
    also: Sequence[Condition] = (),
    default: Sequence[SortKey] = (),
) -> Query:
    """Convert a request. `also` are further conditions, `default` is the order if the request names none.

    Raises InvalidArgument.
    """
    parts = {field.name: value for field, value in request.ListFields()}
    clauses = (*also, *filter_clauses(searchable, parts["filter"])) if "filter" in parts else tuple(also)
    return _ordered(searchable, parts, clauses, default)


def parse_selection(
    searchable: Searchable[object], request: Message, *, also: Sequence[Condition] = ()
) -> Query:
    """Convert the request of a command that changes all matches; `also` are further conditions.

    Raises InvalidArgument, also for a filter without a condition: an empty list, which a search may ignore, must
    not make the command change everything.
    """
    parts = {field.name: value for field, value in request.ListFields()}
    if "filter" not in parts:
        raise InvalidArgument("filter: expected at least one condition, found no filter")
    return _ordered(searchable, parts, (*also, *selecting_clauses(searchable, parts["filter"])), ())


def parse_page(searchable: Searchable[object], request: Message, *, default: Sequence[SortKey] = ()) -> Query:
    """Convert sort and page of a request whose filter is about other rows; `default` is the order if it names none.

    Raises InvalidArgument.
    """
    return _ordered(searchable, {field.name: value for field, value in request.ListFields()}, (), default)


def _ordered(
    searchable: Searchable[object], parts: Mapping[str, Any], clauses: Clauses, default: Sequence[SortKey]
) -> Query:
    wanted = [_sort_key(searchable, entry) for entry in parts.get("sort", ())]
    sort = searchable.order(wanted or default)
    window = _window(parts["page"], clauses, sort) if "page" in parts else Window()
    return Query(clauses, sort, window)


def _sort_key(searchable: Searchable[object], message: Message) -> SortKey:
    values = _values(message)
    name, order = str(values.get("field", "")), values.get("order", page_pb2.SORT_ORDER_ASC)
    field = searchable.fields.get(_CAPITAL.sub(lambda found: f"_{found[0].lower()}", name))
    if field is None or "_" in name or field.type is FieldType.TEXTS:
        raise InvalidArgument(f"sort.field: {name!r} cannot be sorted by")
    if order not in {page_pb2.SORT_ORDER_ASC, page_pb2.SORT_ORDER_DESC}:
        raise InvalidArgument(f"sort.order: expected ASC or DESC, found {order}")
    return SortKey(field, is_descending=order == page_pb2.SORT_ORDER_DESC)


def _window(message: Message, clauses: Clauses, sort: tuple[SortKey, ...]) -> Window:
    values = _values(message)
    if len(values.keys() & {"from", "after", "before"}) > 1:
        raise InvalidArgument("page: expected at most one of from, after and before")
    return Window(
        limit=_bounded(values.get("limit", DEFAULT_LIMIT), "limit", at_least=1, at_most=MAX_LIMIT),
        offset=_bounded(values.get("from", 0), "from", at_least=0, at_most=_LARGEST_OFFSET),
        after=_position(values.get("after"), clauses, sort),
        before=_position(values.get("before"), clauses, sort),
    )


def _position(cursor: object, clauses: Clauses, sort: tuple[SortKey, ...]) -> Position | None:
    return None if cursor is None else position_of(str(cursor), clauses, sort)


def _bounded(value: object, name: str, *, at_least: int, at_most: int) -> int:
    if not isinstance(value, int) or not at_least <= value <= at_most:
        raise InvalidArgument(f"page.{name}: expected {at_least} to {at_most}, found {value}")
    return value


def _values(message: Message) -> Mapping[str, object]:
    return {field.name: value for field, value in message.ListFields()}
