"""Messages as rows: a column names a field of theirs."""

from collections.abc import Iterable, Mapping
from datetime import UTC
from typing import cast

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from rich.table import Table
from rich.text import Text

from edge.fields import enum_names, enum_of

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


def listing(items: Iterable[Message], columns: Mapping[str, str], *, total: int | None = None) -> Table:
    """Rows of messages, in columns that are headings with the field each shows; `total` counts all pages."""
    rows = [[cell(item, field) for field in columns.values()] for item in items]
    table = Table(*columns, box=None, header_style="bold", pad_edge=False, caption=_caption(len(rows), total))
    for row in rows:
        table.add_row(*row)
    return table


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
    if field.type == FieldDescriptor.TYPE_ENUM:
        return str(enum_names(enum_of(field)).get(value, value))
    return ("yes" if value else "") if isinstance(value, bool) else str(value)


def _caption(shown: int, total: int | None) -> str | None:
    return f"{shown} of {total}; --limit shows more" if total is not None and total > shown else None
