"""Rows of a list: what its columns show, and the page of those lists that an RPC returns whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from edge.console.identity.declarations import Column, Listing, Show
from edge.console.identity.paths import field_at, type_of, value_at
from edge.fields import Kind, enum_names, enum_of, kind_of

LIMIT: Final = 50
_MILLISECONDS: Final = 1000
# A time that no calendar contains is shown as a number.
_MOST_SECONDS: Final = 253_402_300_799


@dataclass(frozen=True, slots=True)
class Cell:
    """`moment` is an ISO 8601 time, empty for what is none; `kind` is that of the record which the text names.

    A text that `is_term` is one of the console, which is translated, and no value of a record.
    """

    text: str
    moment: str = ""
    kind: str = ""
    is_code: bool = False
    is_term: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """`key` is the id of the record, empty where the list has none."""

    key: str
    cells: tuple[Cell, ...]


def row_of(record: Message, listing: Listing) -> Row:
    key = str(value_at(record, listing.key)) if listing.key else ""
    return Row(key, cells_of(record, listing.columns))


def cells_of(record: Message, columns: Sequence[Column]) -> tuple[Cell, ...]:
    return tuple(_cell(record, column) for column in columns)


def _cell(record: Message, column: Column) -> Cell:
    value = value_at(record, column.path)
    if column.show in {Show.SECONDS, Show.MILLISECONDS}:
        seconds = (value or 0) / (_MILLISECONDS if column.show is Show.MILLISECONDS else 1)
        if 0 < seconds <= _MOST_SECONDS:
            return Cell(str(value), datetime.fromtimestamp(seconds, UTC).isoformat())
        return Cell(str(value) if value else "")
    field = field_at(type_of(record), column.path)
    is_term = kind_of(field) in {Kind.BOOLEAN, Kind.ENUM} and not field.is_repeated
    return Cell(_text(field, value), kind=column.kind, is_code=column.show is Show.CODE, is_term=is_term)


def _text(field: FieldDescriptor, value: Any) -> str:
    if value is None:
        return ""
    if kind_of(field) is Kind.MESSAGE:
        return ", ".join(_composite(each) for each in value) if field.is_repeated else _composite(value)
    if field.is_repeated:
        return ", ".join(map(str, value))
    match kind_of(field):
        case Kind.BOOLEAN:
            return "Yes" if value else "No"
        case Kind.ENUM:
            return enum_names(enum_of(field)).get(value, "").replace("_", " ").capitalize()
        case _:
            return str(value)


def _composite(message: Message) -> str:
    """Write a message in one cell: its words, and its lists after a colon."""
    fields = message.DESCRIPTOR.fields
    words = [str(getattr(message, each.name)) for each in fields if not each.is_repeated]
    lists = [", ".join(map(str, getattr(message, each.name))) for each in fields if each.is_repeated]
    return ": ".join(filter(None, (*words, *lists)))


def chosen(records: Sequence[Any], listing: Listing, asked: Mapping[str, str]) -> list[Any]:
    """Return those records of a whole list that have each word of the search in a column, in the order that is asked for."""
    words = asked["search"].casefold().split()
    found = [each for each in records if all(word in _searched(each, listing) for word in words)]
    column = next((each for each in listing.columns if each.path == asked["sort"]), None)
    if column is None:
        return found
    ranked = [(_rank(value_at(each, column.path)), each) for each in found]
    present = sorted(
        (each for each in ranked if each[0] is not None), key=_first, reverse=asked["order"] == "desc"
    )
    # Records without a value come last in both orders.
    return [each for _, each in (*present, *(each for each in ranked if each[0] is None))]


def _first(ranked: tuple[Any, Any]) -> Any:
    return ranked[0]


def _searched(record: Message, listing: Listing) -> str:
    return "\n".join(cell.text for cell in cells_of(record, listing.columns)).casefold()


def _rank(value: Any) -> Any:
    """Return the sort key of a value in a column; None for a record without a value."""
    if value is None or value == "":
        return None
    return value.casefold() if isinstance(value, str) else value if isinstance(value, int) else str(value)
