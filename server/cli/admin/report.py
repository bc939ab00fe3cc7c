"""Prints dataclasses as tables and as JSON."""

import dataclasses
from collections.abc import Sequence
from datetime import date, datetime

import orjson
from rich.console import RenderableType
from rich.text import Text

from server.cli.output import Output
from server.cli.terminal_table import Columns, TerminalTable


def show(output: Output, rendered: RenderableType, **members: object) -> None:
    """Print the rendered table or, with `--json`, a JSON object of the members.

    The JSON members of dataclasses are in lower camel case, as in the HTTP API.
    """
    if output.is_json:
        output.document(orjson.dumps({_camel(name): _member(value) for name, value in members.items()}))
    else:
        output.print(rendered)


def table_of(rows: Sequence[object], columns: Columns) -> TerminalTable:
    """Return a table of dataclasses; columns name their attributes."""
    return TerminalTable(
        columns, [[Text(_written(getattr(row, name))) for name in columns.fields.values()] for row in rows]
    )


def _member(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            _camel(field.name): _member(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if isinstance(value, list | tuple):
        return [_member(item) for item in value]
    return value


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def _written(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else ""
        case datetime():
            return f"{value.astimezone():%Y-%m-%d %H:%M:%S}"
        case date():
            return value.isoformat()
        case list() | tuple():
            return ", ".join(map(str, value))
        case _:
            return str(value)
