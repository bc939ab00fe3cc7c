"""From a request message with filter, sort and page to a query.

Whatever the message's own rules say, what comes out is sound: fields exist, bounds hold, cursors are of this query.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from gnomon.query.v1 import page_pb2
from server.platform.errors import InvalidArgument
from server.platform.mapping import spellings
from server.platform.query.conditions import Condition, Conditions, Operator
from server.platform.query.cursor import position_of
from server.platform.query.fields import Field, FieldType, Scalar
from server.platform.query.model import DEFAULT_LIMIT, MAX_LIMIT, Position, Query, SortKey, Window
from server.platform.query.searchable import Searchable

LONGEST_PATTERN = 1024
_LARGEST_OFFSET = (1 << 31) - 1
_CAPITAL = re.compile("[A-Z]")


def parse(searchable: Searchable[object], request: Message, *, also: Sequence[Condition] = ()) -> Query:
    """Read a request; `also` are conditions beside its filter. Raises InvalidArgument."""
    parts = {field.name: value for field, value in request.ListFields()}
    conditions = (*also, *_conditions(searchable, parts["filter"])) if "filter" in parts else tuple(also)
    sort = searchable.order([_sort_key(searchable, entry) for entry in parts.get("sort", ())])
    window = _window(parts["page"], conditions, sort) if "page" in parts else Window()
    return Query(conditions, sort, window)


def _conditions(searchable: Searchable[object], message: Message) -> Iterator[Condition]:
    for field, value in message.ListFields():
        place = f"filter.{field.json_name}"
        reading = searchable.derived.get(field.name)
        if reading is not None:
            yield from reading(value)
        elif field.name not in searchable.fields:
            raise InvalidArgument(f"{place}: this property cannot be searched by")
        elif field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
            yield from _operators(searchable.fields[field.name], value, place)
        else:
            yield Condition(searchable.fields[field.name], Operator.EQ, _scalar(field, value, place))


def _operators(field: Field, message: Message, place: str) -> Iterator[Condition]:
    for entry, value in message.ListFields():
        operator, at = Operator(entry.name), f"{place}.{entry.json_name}"
        if entry.is_repeated:
            yield Condition(field, operator, tuple(_scalar(entry, item, at) for item in value))
        elif operator is Operator.LIKE and len(value) > LONGEST_PATTERN:
            raise InvalidArgument(f"{at}: expected at most {LONGEST_PATTERN} characters, found {len(value)}")
        else:
            yield Condition(field, operator, _scalar(entry, value, at))


def _scalar(field: FieldDescriptor, value: bool | int | str | Timestamp, place: str) -> Scalar:  # noqa: FBT001  # a value, no switch
    if isinstance(value, Timestamp):
        return _instant(value, place)
    if field.enum_type is None or isinstance(value, str):
        return value
    spelling = spellings(field.enum_type).get(value) if value else None
    if spelling is None:
        raise InvalidArgument(f"{place}: expected a value of {field.enum_type.name}, found {value}")
    return spelling


def _instant(value: Timestamp, place: str) -> datetime:
    try:
        return value.ToDatetime(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidArgument(f"{place}: expected a date-time of the years 1 to 9999") from error


def _sort_key(searchable: Searchable[object], message: Message) -> SortKey:
    values = _values(message)
    name, order = str(values.get("field", "")), values.get("order", page_pb2.SORT_ORDER_ASC)
    field = searchable.fields.get(_CAPITAL.sub(lambda found: f"_{found[0].lower()}", name))
    if field is None or "_" in name or field.type is FieldType.TEXTS:
        raise InvalidArgument(f"sort.field: {name!r} cannot be sorted by")
    if order not in {page_pb2.SORT_ORDER_ASC, page_pb2.SORT_ORDER_DESC}:
        raise InvalidArgument(f"sort.order: expected ASC or DESC, found {order}")
    return SortKey(field, is_descending=order == page_pb2.SORT_ORDER_DESC)


def _window(message: Message, conditions: Conditions, sort: tuple[SortKey, ...]) -> Window:
    values = _values(message)
    if len(values.keys() & {"from", "after", "before"}) > 1:
        raise InvalidArgument("page: expected at most one of from, after and before")
    return Window(
        limit=_bounded(values.get("limit", DEFAULT_LIMIT), "limit", at_least=1, at_most=MAX_LIMIT),
        offset=_bounded(values.get("from", 0), "from", at_least=0, at_most=_LARGEST_OFFSET),
        after=_position(values.get("after"), conditions, sort),
        before=_position(values.get("before"), conditions, sort),
    )


def _position(cursor: object, conditions: Conditions, sort: tuple[SortKey, ...]) -> Position | None:
    return None if cursor is None else position_of(str(cursor), conditions, sort)


def _bounded(value: object, name: str, *, at_least: int, at_most: int) -> int:
    if not isinstance(value, int) or not at_least <= value <= at_most:
        raise InvalidArgument(f"page.{name}: expected {at_least} to {at_most}, found {value}")
    return value


def _values(message: Message) -> Mapping[str, object]:
    return {field.name: value for field, value in message.ListFields()}
