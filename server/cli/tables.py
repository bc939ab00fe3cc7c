"""Protobuf messages as table rows; each column shows a field."""

from collections.abc import Iterable
from datetime import UTC
from typing import TYPE_CHECKING, cast

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from rich.text import Text

from server.cli.terminal_table import Columns, TerminalTable
from server.platform.mapping import spellings

if TYPE_CHECKING:
    from google.protobuf.descriptor import FieldDescriptor

_STYLES = {
    "ACTIVE": "cyan",
    "CREATED": "cyan",
    "COMPLETED": "green",
    "RESOLVED": "green",
    "FAILED": "red",
    "ERROR_THROWN": "red",
    "TIMED_OUT": "yellow",
    "TERMINATED": "yellow",
    "CANCELED": "yellow",
}


def table_of(items: Iterable[Message], columns: Columns, *, total: int | None = None) -> TerminalTable:
    """Return a table of messages; `total` is the number of rows on all pages."""
    return TerminalTable(
        columns, [[cell(item, field) for field in columns.fields.values()] for item in items], total
    )


def cell(message: Message, field_name: str) -> Text:
    text = _written(message, field_name)
    return Text(text, style=_STYLES.get(text, ""))


def _written(message: Message, field_name: str) -> str:
    field = cast("FieldDescriptor", message.DESCRIPTOR.fields_by_name[field_name])
    if field.has_presence and not message.HasField(field_name):
        return ""
    value = getattr(message, field_name)
    if isinstance(value, Timestamp):
        return f"{value.ToDatetime(UTC).astimezone():%Y-%m-%d %H:%M:%S}"
    if field.enum_type is not None:
        return spellings(field.enum_type).get(value, str(value))
    return ("yes" if value else "") if isinstance(value, bool) else str(value)
